/** A sample for a source, as its sender would send it. */
export interface SampleDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Delivers a sample to the source with this token, and returns the event's id; null if it made no event. */
export type SendSample = (
  token: string,
  sample: SampleDelivery,
) => Promise<{ readonly event_id: string | null }>;
