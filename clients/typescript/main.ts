// What `svc-agents/client` exports.
export { Svc, type SvcOptions, type WaitInput } from './svc.ts';
export { NotAnswered, NotApproved } from './ask.ts';
export { Parked, Permanent } from './work/parked.ts';
export { PayloadInvalid, type PayloadSchema } from './work/payload.ts';
export { verifyCallback, type IncomingHeaders } from './verify.ts';
export { SvcError } from './core/errors.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors.ts';
export type { CallOptions } from './call/endpoint.ts';
export type { List } from './call/list.ts';
export type { EventFilter } from './core/event-feed.ts';
export type { SaveOptions } from './files.ts';
export type { LockOptions } from './lock.ts';
export type { WorkContext, WorkEvent } from './work/context.ts';
export type { Finished, Handler, WorkOptions } from './work/worker.ts';
export type * from './ask.ts';
export type * from './generated/types.ts';
