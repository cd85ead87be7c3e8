import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorSocket } from '../../../gateway/operator/operator-socket.ts';
import { encodeCursor } from '../../../shared/lib/cursor.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { askOperator } from './ask-operator.ts';

let gateway: TestGateway;
let socket: OperatorSocket | null;
let socketPath: string;
beforeAll(async () => {
  gateway = await TestGateway.start();
  const { folder: dataFolder } = gateway;
  const log = pino({ level: 'silent' });
  socket = await OperatorSocket.open({ dataFolder, approvals: gateway.gateway.operator, log });
  socketPath = join(dataFolder, 'operator.sock');
});
afterAll(async () => {
  await socket?.close(0);
  await gateway.stop();
});

it.each([
  ['GET', '/', '', 404, 'NOT_FOUND'],
  ['GET', '/v1/whoami', '', 404, 'NOT_FOUND'],
  ['POST', '/projects', '', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/projects/{id}/block', '', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/projects?cursor=x', '', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/nobody/unblock', '', 404, 'NOT_FOUND'],
  ['POST', '/projects/%ff/unblock', '', 404, 'NOT_FOUND'],
  ['POST', '/projects/{id}/block', '', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', '{"reason":1}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', '{"reason":" "}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', '{"reason":"a\\nb"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', '{"reason":"a","who":1}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', `{"reason":"${'a'.repeat(201)}"}`, 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"ftp://svc.example.com"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"nowhere"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"https://a.example/ do this"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"https://a.example/\\u001b"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"https://a.example/\\u202e"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/moved', '{"to":"https://a:b@a.example"}', 400, 'VALIDATION_FAILED'],
  ['PUT', '/invitations', '', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/invitations/revoke', '', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/invitations', '{"email":"ana"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/invitations', '{"email":"a@example.com\\nb@example.com"}', 400, 'VALIDATION_FAILED'],
  ['POST', '/projects/{id}/block', ' '.repeat(16_385), 413, 'PAYLOAD_TOO_LARGE'],
])('%s %s with %j is refused', async (method, path, body, status, code) => {
  const target = path.replace('{id}', gateway.projectId);
  const answer = await askOperator(socketPath, method, target, body);
  expect(answer).toMatchObject({ status, body: { error: { code } } });
  const { items } = await gateway.gateway.operator.list(1, undefined);
  expect(items).toMatchObject([{ emails: { blocked: null } }]);
});

it('the list goes on behind a cursor', async () => {
  const cursor = encodeCursor(gateway.projectId);
  expect(await askOperator(socketPath, 'GET', `/projects?cursor=${cursor}`)).toEqual({
    status: 200,
    body: { items: [], next_cursor: null },
  });
});

it('invites people, lists them, and takes an invitation back', async () => {
  const email = 'ana@example.com';
  const ask = (path: string, body = JSON.stringify({ email })) =>
    askOperator(socketPath, 'POST', path, body);
  expect((await ask('/invitations')).body).toEqual({ email, status: 'invited', mailed: false });
  expect((await ask('/invitations')).body).toMatchObject({ status: 'invited_already' });
  const listed = await askOperator(socketPath, 'GET', '/invitations');
  expect(listed.body).toMatchObject({ sign_up: 'open', sends_mail: false, items: [{ email }] });
  expect((await ask('/invitations/revoke')).body).toEqual({ email, revoked: true });
  expect((await ask('/invitations/revoke')).body).toEqual({ email, revoked: false });
});
