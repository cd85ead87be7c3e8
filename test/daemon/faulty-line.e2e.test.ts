import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FaultyLine, type Fault } from '../helpers/faulty-line.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { ReplicaDaemon } from '../helpers/replica-daemon.ts';
import { until } from './replica/open-replica.ts';

const READS = 30;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(async () => {
  for (const { daemon, line } of members) {
    await daemon.stop();
    await line.close();
  }
  await gateway.stop();
});

interface Seen {
  readonly status: number;
  readonly value: unknown;
  readonly isStale: boolean;
  readonly isDated: boolean;
}

interface Member {
  readonly line: FaultyLine;
  readonly daemon: ReplicaDaemon;
  /** The value of this member's key. */
  readonly read: () => Promise<Seen>;
  readonly write: (value: unknown) => Promise<number>;
  /** The same past the line. */
  readonly writeElsewhere: (value: unknown) => Promise<void>;
}

const members: Pick<Member, 'daemon' | 'line'>[] = [];

/** A daemon that reads from its replica, behind a line of its own. */
async function newMember(): Promise<Member> {
  const line = await FaultyLine.to(gateway.url);
  const daemon = await ReplicaDaemon.start(line.url, gateway);
  members.push({ line, daemon });
  const path = `/v1/kv/line-${members.length}`;
  const write = async (value: unknown): Promise<number> =>
    (await daemon.call('PUT', path, { body: value })).status;
  await write(0);
  await daemon.until('local');
  return {
    line,
    daemon,
    write,
    read: async () => {
      const { status, headers, body } = await daemon.call('GET', path);
      return {
        status,
        value: body['value'],
        isStale: headers.has('x-service-stale'),
        isDated: headers.has('x-service-replica-age'),
      };
    },
    writeElsewhere: async (value) => void (await gateway.call('PUT', path, { body: value })),
  };
}

describe.concurrent('a read at a member whose line', () => {
  it.each<[string, Fault]>([
    ['refuses connections', 'refused'],
    ['takes connections and says nothing', 'silent'],
    ['loses every answer', 'mute'],
    ['stops after the head of an answer', 'head'],
    ['leads to a proxy that answers 502', 502],
    ['leads to a proxy that answers 503', 503],
    ['leads to a proxy that answers 504', 504],
  ])('%s is answered by the copy, marked, and waits for nobody', async (_what, fault) => {
    const member = await newMember();
    const { line } = member;
    await line.be(fault);
    await until(member.read, ({ isStale }) => isStale);
    await member.writeElsewhere(1);
    const before = line.lost.length;
    for (let n = 0; n < READS; n += 1) {
      expect(await member.read()).toEqual({ status: 200, value: 0, isStale: true, isDated: true });
    }
    // Nobody but the daemon itself asked the gateway, in the background.
    expect(line.lost.slice(before).filter((head) => head.includes('/v1/kv'))).toEqual([]);
    await line.be('open');
    await until(member.read, ({ isStale, value }) => !isStale && value === 1);
    expect(await member.write(2)).toBe(200);
    // A busy machine may take a gateway for a late one.
    expect(await until(member.read, ({ isStale }) => !isStale)).toMatchObject({ value: 2 });
  });

  it('is slow is answered by the copy, which says how old it is', async () => {
    const member = await newMember();
    await member.line.be('late');
    await member.writeElsewhere(1);
    await until(member.read, ({ value }) => value === 1);
    for (let n = 0; n < READS; n += 1) {
      expect(await member.read()).toMatchObject({ status: 200, value: 1, isDated: true });
    }
  });

  it('is slow is answered by the copy without what was just written, marked, and waits for nobody', async () => {
    const member = await newMember();
    const { line } = member;
    await line.be('late');
    for (const value of [1, 2]) {
      expect(await member.write(value)).toBe(200);
      const before = line.lost.length;
      const seen: Seen[] = [];
      await until(
        async () => {
          seen.push(await member.read());
          return seen.at(-1);
        },
        (last) => last?.value === value,
      );
      expect(seen.filter((one) => one.status !== 200 || !one.isDated)).toEqual([]);
      expect(seen.filter((one) => one.value !== value && !one.isStale)).toEqual([]);
      expect(line.lost.slice(before).filter((head) => head.includes('GET /v1/kv'))).toEqual([]);
    }
    await member.daemon.until('late');
  });
});

describe.concurrent('a write', () => {
  it.each<[string, Fault]>([
    ['into a line that lost it', 'silent'],
    ['whose answer the line lost', 'mute'],
  ])('%s is done, once, over another connection when the line is back', async (_what, fault) => {
    const member = await newMember();
    const { line, daemon } = member;
    await line.be(fault);
    const path = `/v1/kv/${fault}-write`;
    const writing = daemon.call('PUT', path, { body: 'mine' });
    await until(
      () => line.lost,
      (lost) => lost.some((head) => head.includes(path)),
    );
    await line.be('open');
    expect((await writing).status).toBe(200);
    expect((await gateway.call('GET', path)).body).toMatchObject({ value: 'mine' });
    const { body } = await gateway.call<{ items: { op: string; subject: string | null }[] }>(
      'GET',
      '/v1/ledger?limit=500',
    );
    expect(body.items.filter((entry) => entry.subject?.endsWith(`${fault}-write`))).toHaveLength(1);
  });
});

describe.concurrent('a wait', () => {
  it('gets the event that the line lost, when the line is back', async () => {
    const { line, daemon } = await newMember();
    const hook = await gateway.addSource({ name: 'lost' });
    const waiting = daemon.call('GET', '/v1/inbox/wait?source=lost&timeout_seconds=120');
    await line.be('mute');
    const { body } = await gateway.deliver(hook, '{"n":1}');
    await until(
      () => line.lost,
      (lost) => lost.length > 0,
    );
    await line.be('open');
    expect((await waiting).body).toMatchObject({ event: { id: body['event_id'] } });
  });
});
