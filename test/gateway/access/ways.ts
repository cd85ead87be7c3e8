import { writerOf } from '../../helpers/writers.ts';
import { ChangeStream } from '../replica/change-stream.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { linkToken, tokensOf } from '../../helpers/outbox.ts';
import { BIG, isCancelled, openUpload, put, send, sendMail, upload } from './left-things.ts';
import type { Key, Stage } from './stage.ts';
import { askedAgain } from '../../helpers/asked-again.ts';

/**
 * Prepares a way to stay with somebody else's key. The answer says, after that key was taken away, whether the way is still
 * open.
 */
type Way = (stage: Stage, key: string) => Promise<() => Promise<boolean>>;

const YEAR_MS = 365 * 86_400_000;

const opens = async (url: string): Promise<boolean> => (await fetch(url)).status === 200;

/** Twenty and more ways to stay, by what would still be open. */
export const WAYS: readonly (readonly [what: string, way: Way])[] = [
  ['the key itself', async (stage, key) => () => stage.reads(key)],
  [
    'a key that it made',
    async (stage, key) => {
      const { api_key: made } = await stage.newKey(key);
      return () => stage.reads(made);
    },
  ],
  [
    'a key made over two others, which it revoked and kept',
    async (stage, key) => {
      const first = await stage.newKey(key);
      const second = await stage.newKey(first.api_key);
      const third = await stage.newKey(second.api_key);
      for (const { id } of [second, first]) {
        await stage.made(key, 'DELETE', `/v1/keys/${id}?keep=true`);
      }
      return () => stage.reads(third.api_key);
    },
  ],
  [
    'both secrets of a key that it rotated, with a day of grace',
    async (stage, key) => {
      const { id, api_key: old } = await stage.newKey(key);
      const rotated = await stage.made<Key>(old, 'POST', `/v1/keys/${id}/rotate`, {
        grace_seconds: 86_400,
      });
      return async () => (await stage.reads(old)) || stage.reads(rotated.api_key);
    },
  ],
  [
    'a repeat of the call that made a key, with its Idempotency-Key',
    async (stage, key) => {
      const create = () =>
        stage.gateway.call<Key>('POST', '/v1/keys', {
          key,
          body: { name: 'again', scopes: ['inbox:read'] },
          headers: { 'idempotency-key': 'once more' },
        });
      const { body: first } = await create();
      return async () => (await create()).status < 400 || stage.reads(first.api_key);
    },
  ],
  [
    'a route to its own server, by a key that it made',
    async (stage, key) => {
      const { api_key: made } = await stage.newKey(key);
      const callback_url = stage.receiver.url('/route');
      const { id } = await stage.made<Key>(made, 'POST', '/v1/routes', {
        callback_url,
        match_type: 'order.paid',
      });
      return async () => {
        const { items } = await stage.made<{ items: { id: string; enabled: boolean }[] }>(
          stage.ownerKey,
          'GET',
          '/v1/routes',
        );
        return items.some((route) => route.id === id && route.enabled);
      };
    },
  ],
  [
    'events that a route of its hasn’t delivered yet',
    async (stage, key) => {
      stage.receiver.answer(500);
      const { id } = await stage.made<Key>(key, 'POST', '/v1/routes', {
        callback_url: stage.receiver.url('/late'),
        match_source: 'late',
      });
      const source = { type: 'webhook', name: 'late' };
      const { url } = await stage.made<{ url: string }>(
        stage.ownerKey,
        'POST',
        '/v1/sources',
        source,
      );
      await stage.gateway.deliver(url, '{"order":"late"}');
      const path = `/v1/routes/${id}/attempts?status=pending`;
      const pending = async (): Promise<boolean> =>
        (await stage.made<{ items: unknown[] }>(stage.ownerKey, 'GET', path)).items.length > 0;
      if (!(await pending())) throw new Error('Nothing waits.');
      return pending;
    },
  ],
  [
    'an invitation that it wrote',
    async (stage, key) => {
      const before = tokensOf(stage.gateway.folder, 'ui/join').length;
      const body = { email: 'eve@example.com', role: 'member' };
      await stage.made(key, 'POST', '/v1/members', body);
      const link = await linkToken(stage.gateway.folder, 'ui/join', before + 1);
      return async () =>
        (await new WebVisitor(stage.gateway).enter(`/ui/join/${link}`)).status < 400;
    },
  ],
  [
    'an invitation that an owner approves afterwards',
    async (stage, key) => {
      const body = { email: 'mallory@example.com', role: 'approver' };
      const { request_id: id } = await stage.made<{ request_id: string }>(
        key,
        'POST',
        '/v1/members',
        body,
      );
      const token = await stage.people.link(id);
      return async () => {
        await stage.gateway.gateway.approvals.decide(token, { verb: 'approve' });
        const { items } = await stage.made<{ items: { address: string }[] }>(
          stage.ownerKey,
          'GET',
          '/v1/members',
        );
        return items.some(({ address }) => address === 'm***@example.com');
      };
    },
  ],
  [
    'an approver whose address it confirms afterwards',
    async (stage, key) => {
      const before = tokensOf(stage.gateway.folder, 'c').length;
      await stage.made(key, 'POST', '/v1/channels', { kind: 'email', address: 'x@example.com' });
      const token = await linkToken(stage.gateway.folder, 'c', before + 1);
      return async () => (await stage.gateway.gateway.approvals.verifyEmail(token)) !== null;
    },
  ],
  [
    'an approver that an owner lets in afterwards',
    async (stage, key) => {
      const before = tokensOf(stage.gateway.folder, 'c').length;
      const { channel } = await stage.made<{ channel: Key }>(key, 'POST', '/v1/channels', {
        kind: 'email',
        address: 'y@example.com',
      });
      const token = await linkToken(stage.gateway.folder, 'c', before + 1);
      await stage.gateway.gateway.approvals.verifyEmail(token);
      const { items } = await stage.made<{ items: { request_id: string; kind: string }[] }>(
        stage.ownerKey,
        'GET',
        '/v1/requests?status=pending',
      );
      const asked = items.find(({ kind }) => kind === 'channel')?.request_id ?? '';
      const decision = await stage.people.link(asked);
      return async () => {
        await stage.gateway.gateway.approvals.decide(decision, { verb: 'approve' });
        const channels = await stage.made<{ items: { id: string }[] }>(
          stage.ownerKey,
          'GET',
          '/v1/channels',
        );
        return channels.items.some(({ id }) => id === channel.id);
      };
    },
  ],
  [
    'a policy that an owner approves afterwards',
    async (stage, key) => {
      const policy = { rules: [{ action: '*', effect: 'auto_approve' }] };
      const { request_id: id } = await stage.made<{ request_id: string }>(
        key,
        'PUT',
        '/v1/policy',
        {
          policy,
          wait_seconds: 0,
        },
      );
      const token = await stage.people.link(id);
      return async () => {
        await stage.gateway.gateway.approvals.decide(token, { verb: 'approve' });
        const { version } = await stage.made<{ version: number }>(
          stage.ownerKey,
          'GET',
          '/v1/policy',
        );
        return version > 0;
      };
    },
  ],
  [
    'the answer to a question, at its callback',
    async (stage, key) => {
      await stage.made(key, 'POST', '/v1/request-callback-secret');
      const { request_id: id } = await stage.made<{ request_id: string }>(
        key,
        'POST',
        '/v1/requests',
        { question: 'The code?', wait_seconds: 0, callback_url: stage.receiver.url('/answer') },
      );
      const token = await stage.people.link(id);
      return async () => {
        const choice = { verb: 'answer', text: 'hunter2' } as const;
        const decided = await stage.gateway.gateway.approvals.decide(token, choice);
        return (
          decided?.outcome === 'taken' ||
          stage.receiver.got.some(({ text }) => text.includes('hunter2'))
        );
      };
    },
  ],
  [
    'a mail that an owner approves afterwards',
    async (stage, key) => {
      const { batch_id: id, request_id: asked } = await sendMail(stage, key);
      const token = await stage.people.link(asked);
      return async () => {
        await stage.gateway.gateway.approvals.decide(token, { verb: 'approve' });
        return !(await isCancelled(stage, id));
      };
    },
  ],
  [
    'a mail that an owner approved, and that waits to be sent again',
    async (stage, key) => {
      const { batch_id: id } = await sendMail(stage, key);
      await writerOf(stage.people.project).write((store) =>
        store.emails.queue(id, stage.clock.now() + YEAR_MS),
      );
      return async () => !(await isCancelled(stage, id));
    },
  ],
  [
    'a public link to a file',
    async (stage, key) => {
      await stage.made(stage.ownerKey, 'PUT', '/v1/kv/unused', 1);
      await put(stage, stage.ownerKey, 'plans.txt', 'secret');
      const asked = { path: 'plans.txt', wait_seconds: 0, expires_in: 604_800 };
      const { request_id: id } = await stage.made<{ request_id: string }>(
        key,
        'POST',
        '/v1/file-urls',
        asked,
      );
      await stage.people.decide(id, { verb: 'approve' });
      const { url } = await stage.made<{ url: string }>(key, 'POST', '/v1/file-urls', {
        ...asked,
        approval: id,
      });
      return () => opens(url);
    },
  ],
  [
    'a link to download a large file',
    async (stage, key) => {
      await upload(stage, stage.ownerKey, 'big.bin');
      const { download_url: url } = await stage.made<{ download_url: string }>(
        key,
        'GET',
        '/v1/files/big.bin',
      );
      if (!(await opens(url))) throw new Error('The link opens nothing.');
      return () => opens(url);
    },
  ],
  [
    'a link to a large payload',
    async (stage, key) => {
      const { body } = await stage.gateway.deliver(stage.hook, JSON.stringify({ BIG }));
      const event_id = String(body['event_id'] ?? body['id']);
      const { payload_url: url } = await stage.made<{ payload_url: string }>(
        key,
        'POST',
        '/v1/inbox/claim',
        { event_id },
      );
      if (!(await opens(url))) throw new Error('The link opens nothing.');
      return () => opens(url);
    },
  ],
  [
    'a link to upload to',
    async (stage, key) => {
      const { url } = await openUpload(stage, key, 'drop.bin');
      return async () => (await send(url)).status === 200;
    },
  ],
  [
    'a session of the web inbox',
    async (stage, key) => {
      const visitor = await WebVisitor.withKey(stage.gateway, key);
      const page = `/ui/p/${stage.slug}/events`;
      if ((await visitor.get(page)).status !== 200) throw new Error('There is no session.');
      return async () => (await visitor.get(page)).status === 200;
    },
  ],
  [
    'a link that opens the web inbox, not used yet',
    async (stage, key) => {
      const { url } = await stage.made<{ url: string }>(key, 'POST', '/v1/ui/links', {});
      return async () => {
        const visitor = new WebVisitor(stage.gateway);
        await visitor.enter(new URL(url).pathname);
        return (await visitor.get(`/ui/p/${stage.slug}/events`)).status === 200;
      };
    },
  ],
  [
    'a wait that is open',
    async (stage, key) => {
      const path = '/v1/inbox/wait?timeout_seconds=100&type=never.comes';
      const waiting = askedAgain(() => stage.call(key, 'GET', path));
      await open(stage);
      return async () => (await waiting).status !== 401;
    },
  ],
  [
    'a stream of changes, as of a replica',
    async (stage, key) => {
      const stream = await ChangeStream.open(stage.gateway.url, key);
      return async () => {
        await stream.ended();
        return ChangeStream.open(stage.gateway.url, key).then(
          () => true,
          () => false,
        );
      };
    },
  ],
  [
    'a session of MCP',
    async (stage, key) => {
      const list = () =>
        fetch(`${stage.gateway.url}/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        });
      if ((await list()).status !== 200) throw new Error('MCP says no.');
      return async () => (await list()).status === 200;
    },
  ],
];

/** Until the project knows of a wait. */
async function open({ people }: Stage): Promise<void> {
  while (people.project.waits.size === 0) await new Promise((resolve) => setImmediate(resolve));
}
