/** How a gateway does not answer as it should. */
export type SourceFault =
  /** Nobody answers there, or only somebody who stands in front of it. */
  | 'unreachable'
  /** It is there, and cannot do it now. */
  | 'unavailable'
  /** The key is no longer good, or lacks a scope. */
  | 'refused'
  /** There is no such thing. */
  | 'missing'
  /** Where it keeps its databases there are no replicas. */
  | 'none'
  /** The answer makes no sense. */
  | 'unknown';

export class SourceError extends Error {
  readonly fault: SourceFault;
  /** The code of the error body; null where there was none. */
  readonly code: string | null;

  constructor(fault: SourceFault, message: string, code: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = 'SourceError';
    this.fault = fault;
    this.code = code;
  }

  /** `reason`: why there is none of it, where the gateway says so. */
  static ofStatus(
    status: number,
    code: string | null,
    message: string,
    reason: unknown = null,
  ): SourceError {
    const isNone = status === 404 && reason === 'no_replica';
    const fault = isNone ? 'none' : faultOf(status, code);
    return new SourceError(fault, `The gateway answered ${status}: ${message}`, code);
  }
}

function faultOf(status: number, code: string | null): SourceFault {
  // Without our error body it was somebody else who answered: a proxy whose gateway is gone, or a portal.
  if (status === 401 || status === 403) return code === null ? 'unavailable' : 'refused';
  if (status === 404) return code === null ? 'unreachable' : 'missing';
  if (status === 429) return 'unavailable';
  if (status >= 500) return code === null ? 'unreachable' : 'unavailable';
  return 'unknown';
}
