import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ServiceError } from '../../lib/errors.ts';

type Fields = Record<string, unknown>;

/** A request that we refuse before serving it, with its HTTP status. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: Fields | undefined;

  constructor(status: number, code: number, message: string, data?: Fields) {
    super(message);
    this.name = 'RefusedRequest';
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

export function invalidRequest(message: string): RefusedRequest {
  return new RefusedRequest(400, ProtocolErrorCode.InvalidRequest, message);
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Converts an error inside a request. Its key and body were fine, so the HTTP status doesn't reflect the error. */
export function refusedInside(error: ServiceError): ProtocolError {
  const { code, message, data } = errorOf(error);
  if (error.code !== 'VALIDATION_FAILED') return new ProtocolError(code, message, data);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

/** The JSON-RPC error. Codes from -32768 to -32000 are reserved, so the code is the HTTP status. */
export function errorOf(error: ServiceError): { code: number; message: string; data: Fields } {
  const code = error.code === 'INTERNAL' ? ProtocolErrorCode.InternalError : error.status;
  return { code, message: error.line(), data: { ...error.details, code: error.code } };
}

/** A JSON-RPC error response. */
export function errorJson(
  id: string | number | null,
  error: { code: number; message: string; data?: Fields | undefined },
): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}
