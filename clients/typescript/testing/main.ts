// What `svc-agents/client/testing` exports.
export { FakeSvc } from './fake-svc.ts';
export type { FakeEvent } from './fake-inbox.ts';
export type { FakeDecision, FakePolicy, FakeRequest } from './fake-people.ts';
