/** Work that goes on in the background from `start` to `stop`, such as reading a mailbox. */
export interface BackgroundTask {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}
