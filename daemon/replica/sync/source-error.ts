import { isObject } from '../../../shared/lib/guards.ts';

/** How a gateway's answer failed. */
export type SourceFault =
  /** Nobody answers, or only a proxy in front of it. */
  | 'unreachable'
  /** The gateway is there, but can't do it now. */
  | 'unavailable'
  /** The key is no longer valid, or lacks a scope. */
  | 'refused'
  /** The key is limited to prefixes of the disk. */
  | 'limited'
  /** The gateway has no such thing. */
  | 'missing'
  /** The answer makes no sense. */
  | 'unknown';

export class SourceError extends Error {
  readonly fault: SourceFault;
  /** The code in the error body; null without one. */
  readonly code: string | null;

  constructor(fault: SourceFault, message: string, code: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = 'SourceError';
    this.fault = fault;
    this.code = code;
  }

  /** True if the gateway itself said so: it's there. */
  get isOfGateway(): boolean {
    return this.code !== null;
  }

  /** `details`: those in the error body, if any. */
  static ofStatus(
    status: number,
    code: string | null,
    message: string,
    details: unknown = null,
  ): SourceError {
    const fault = faultIn(status, details) ?? faultOf(status, code);
    return new SourceError(fault, `The gateway answered ${status}: ${message}`, code);
  }
}

function faultIn(status: number, details: unknown): SourceFault | null {
  if (!isObject(details)) return null;
  return status === 403 && Array.isArray(details['prefixes']) ? 'limited' : null;
}

function faultOf(status: number, code: string | null): SourceFault {
  // Without our error body, somebody else answered: a proxy whose gateway is gone, or a portal.
  if (status === 401 || status === 403) return code === null ? 'unavailable' : 'refused';
  if (status === 404) return code === null ? 'unreachable' : 'missing';
  if (status === 429) return 'unavailable';
  if (status >= 500) return code === null ? 'unreachable' : 'unavailable';
  return 'unknown';
}
