// The parts of mailauth that we import directly: its entry point loads much more.

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { Writable } from 'node:stream';
  import type { TxtResolver } from './dns.ts';

  /** A header field; `line` is as received, folded, without its last line end. */
  export interface HeaderRow {
    readonly key?: string;
    readonly line: Buffer;
  }

  export interface HeaderRows {
    readonly parsed: readonly HeaderRow[];
    readonly original: Buffer;
  }

  export interface DkimResult {
    readonly signingDomain?: string;
    /** The value of `b=`, without blanks. */
    readonly signature?: string;
    /** The record with the key, without blanks. */
    readonly rr?: string;
    readonly status: {
      readonly result: 'pass' | 'fail' | 'neutral' | 'none' | 'policy' | 'temperror';
    };
  }

  interface VerifierOptions {
    readonly resolver: TxtResolver;
    readonly minBitLength: number;
    readonly curTime: Date;
  }

  export class DkimVerifier extends Writable {
    constructor(options: VerifierOptions);
    /** The header fields that signatures are checked against. */
    headers: HeaderRows | false;
    results: DkimResult[];
    messageHeaders(headers: HeaderRows): Promise<void>;
  }
}

declare module 'mailauth/lib/tools.js' {
  /** Whether a domain and one of the others have the same organizational domain (RFC 7489 section 3.2). */
  export function getAlignment(fromDomain: string, domains: readonly string[]): object | false;
}
