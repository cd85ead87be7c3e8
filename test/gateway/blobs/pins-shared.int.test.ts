import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedStore, type Point, type SharedGateway } from './shared-blobs.ts';

/** As a pin holds, and an erasure. */
const PIN_MS = 3_600_000;
const ERASURE_MS = 1_200_000;

const TEXT = 'the same bytes';
const bytes = Buffer.from(TEXT);
const digest = hash('sha256', bytes);
const UNAVAILABLE = { code: 'UNAVAILABLE' };
/** How often a gateway here looks whether an erasure is over. */
const LOOKS = 6;

let store: SharedStore;
let a: SharedGateway;
let b: SharedGateway;
beforeEach(async () => {
  store = await SharedStore.open();
  a = store.gateway('a');
  b = store.gateway('b');
});
afterEach(() => store.close());

/** Stores and names the bytes, as an acknowledged call does. */
async function save(gateway: SharedGateway): Promise<void> {
  const { release } = await gateway.blobs.put(bytes);
  await gateway.name(digest, bytes.length);
  release();
  await gateway.settled();
}

/** Its last look comes when an erasure is over, which takes a busy disk longer than a gateway here is patient. */
function lookLastAfter(erasure: Promise<unknown>, gateway: SharedGateway): void {
  let looks = 0;
  gateway.at = async (point) => {
    if (point === 'before pinBlob' && (looks += 1) === LOOKS) await erasure;
  };
}

/** The bytes are there and no row names them: the last has gone, and its gateway with it. */
async function leaveOrphan(): Promise<void> {
  const c = store.gateway('c');
  await save(c);
  c.remove = async () => undefined;
  await c.drop(digest);
  expect(store.bytes(digest)).toBe(TEXT);
}

/** A gateway that dies at a point: nothing of its work goes on from there. */
function dieAt(gateway: SharedGateway, point: Point): Promise<void> {
  return gateway.stopAt(point).reached;
}

/** A stands still at a point of an erasure until another gateway has overridden that, and saved the same again. */
async function lateErasure(point: Point): Promise<{ go: () => void; removal: Promise<void> }> {
  await leaveOrphan();
  const { reached, go } = a.stopAt(point);
  const removal = a.remove(digest);
  await reached;
  store.clock.advance(ERASURE_MS);
  await save(b);
  await expectNamedBytes();
  return { go, removal };
}

async function expectNamedBytes(): Promise<void> {
  expect(await store.isNamed(digest)).toBe(true);
  expect(store.bytes(digest)).toBe(TEXT);
}

async function expectNamed(): Promise<void> {
  await expectNamedBytes();
  expect(store.files()).toEqual([digest]);
}

async function expectGone(): Promise<void> {
  expect(await store.isNamed(digest)).toBe(false);
  expect(store.files()).toEqual([]);
  expect(await store.marks()).toBe(0);
}

describe('a blob that one gateway stores while another erases it', () => {
  it.each<Point>(['before claimErasure', 'after claimErasure', 'before endErasure'])(
    'is there in the end when the erasure stood still %s',
    async (point) => {
      await leaveOrphan();
      const stop = b.stopAt(point);
      const removal = b.remove(digest);
      await stop.reached;
      lookLastAfter(removal, a);
      const saving = save(a);
      if (point === 'before claimErasure') await saving;
      stop.go();
      await Promise.all([saving, removal]);
      await expectNamed();
      expect(await store.marks()).toBe(0);
    },
  );

  it.each<Point>(['before pinBlob', 'after pinBlob'])(
    'is there in the end when the store stood still %s',
    async (point) => {
      await leaveOrphan();
      const stop = a.stopAt(point);
      const saving = save(a);
      await stop.reached;
      await b.remove(digest);
      expect(store.bytes(digest)).toBe(point === 'after pinBlob' ? TEXT : null);
      stop.go();
      await saving;
      await expectNamed();
      expect(await store.marks()).toBe(0);
    },
  );

  it('stays between its bytes and its row, and after', async () => {
    const { release } = await a.blobs.put(bytes);
    await b.remove(digest);
    await a.name(digest, bytes.length);
    await b.remove(digest);
    release();
    await a.settled();
    await b.remove(digest);
    await expectNamed();
    expect(await store.marks()).toBe(0);
  });

  it('goes with whoever lets go of it last and has not named it', async () => {
    const [first, second] = [await a.blobs.put(bytes), await b.blobs.put(bytes)];
    first.release();
    await a.settled();
    expect(store.bytes(digest)).toBe(TEXT);
    second.release();
    await b.settled();
    await expectGone();
  });

  it('is erased by one of two that erase it', async () => {
    await leaveOrphan();
    const stop = a.stopAt('before take');
    const removal = a.remove(digest);
    await stop.reached;
    await b.remove(digest);
    expect(store.bytes(digest)).toBe(TEXT);
    stop.go();
    await removal;
    await expectGone();
  });

  it('that comes in chunks waits as well, and is written anew', async () => {
    await leaveOrphan();
    const stop = b.stopAt('after take');
    const removal = b.remove(digest);
    await stop.reached;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes;
    }
    lookLastAfter(removal, a);
    const storing = a.blobs.putStream(chunks(), bytes.length);
    stop.go();
    const { release } = await storing;
    await a.name(digest, bytes.length);
    release();
    await Promise.all([removal, a.settled()]);
    await expectNamed();
    expect(await store.marks()).toBe(0);
  });
});

describe('callers in one gateway', () => {
  it('share a pin until the last of them lets go', async () => {
    const [first, second] = await Promise.all([a.blobs.put(bytes), a.blobs.put(bytes)]);
    first.release();
    await a.settled();
    await b.remove(digest);
    expect(store.bytes(digest)).toBe(TEXT);
    second.release();
    await a.settled();
    await expectGone();
  });

  it('do not renew a pin that has lapsed under one of them', async () => {
    const slow = await a.blobs.put(bytes);
    store.clock.advance(PIN_MS);
    await b.remove(digest);
    expect(store.bytes(digest)).toBeNull();
    // With a new pin, the slow one could name bytes that are not there yet.
    await expect(a.blobs.put(bytes)).rejects.toMatchObject(UNAVAILABLE);
    await expect(a.name(digest, bytes.length)).rejects.toMatchObject(UNAVAILABLE);
    slow.release();
    await a.settled();
    await save(a);
    await expectNamed();
  });

  it('renew one that is there', async () => {
    const first = await a.blobs.put(bytes);
    store.clock.advance(PIN_MS - 1);
    const second = await a.blobs.put(bytes);
    store.clock.advance(PIN_MS - 1);
    await b.remove(digest);
    expect(store.bytes(digest)).toBe(TEXT);
    await a.name(digest, bytes.length);
    first.release();
    second.release();
    await a.settled();
    await expectNamed();
  });
});

describe('a gateway that dies', () => {
  it.each<Point>(['after pinBlob', 'before claimErasure'])(
    '%s leaves a pin that lapses, and what nobody names goes with it',
    async (point) => {
      const dead = dieAt(a, point);
      void a.blobs.put(bytes).then(({ release }) => release());
      await dead;
      store.clock.advance(PIN_MS - 1);
      await b.dropPins();
      await b.remove(digest);
      expect(await store.marks()).toBe(1);
      expect(store.bytes(digest)).toBe(point === 'after pinBlob' ? null : TEXT);
      store.clock.advance(1);
      await b.dropPins();
      await expectGone();
    },
  );

  it('between its row and the end of its pin loses nothing', async () => {
    const dead = dieAt(a, 'before claimErasure');
    void save(a);
    await dead;
    store.clock.advance(PIN_MS);
    await b.dropPins();
    await expectNamed();
    expect(await store.marks()).toBe(0);
  });

  it.each<Point>(['after claimErasure', 'after take', 'before endErasure'])(
    '%s does not keep others from the blob for long',
    async (point) => {
      await leaveOrphan();
      const dead = dieAt(a, point);
      void a.remove(digest);
      await dead;
      const details = { retry_after: 5 };
      store.clock.advance(ERASURE_MS - 1);
      await expect(b.blobs.put(bytes)).rejects.toMatchObject({ ...UNAVAILABLE, details });
      await b.settled();
      store.clock.advance(1);
      await save(b);
      await expectNamedBytes();
      store.clock.advance(2 * PIN_MS);
      await b.sweep();
      await expectNamed();
    },
  );

  it('after its erasure is over is missed by nobody', async () => {
    await leaveOrphan();
    const dead = dieAt(a, 'after endErasure');
    void a.remove(digest);
    await dead;
    await save(b);
    await expectNamedBytes();
    store.clock.advance(2 * PIN_MS);
    await b.sweep();
    await expectNamed();
    expect(await store.marks()).toBe(0);
  });

  it('after a claim leaves the rest to maintenance', async () => {
    await leaveOrphan();
    const dead = dieAt(a, 'after claimErasure');
    void a.remove(digest);
    await dead;
    await b.dropPins();
    expect(store.bytes(digest)).toBe(TEXT);
    store.clock.advance(ERASURE_MS);
    await b.dropPins();
    await expectGone();
  });
});

describe('a gateway that stands still for longer than its pin holds', () => {
  it('is refused when it names what was erased meanwhile', async () => {
    const { release } = await a.blobs.put(bytes);
    store.clock.advance(PIN_MS);
    await b.remove(digest);
    await expect(a.name(digest, bytes.length)).rejects.toMatchObject(UNAVAILABLE);
    release();
    await a.settled();
    await expectGone();
  });

  it('is refused though another one has pinned the same since', async () => {
    const { release } = await a.blobs.put(bytes);
    store.clock.advance(PIN_MS);
    await b.dropPins();
    const other = await b.blobs.put(bytes);
    await expect(a.name(digest, bytes.length)).rejects.toMatchObject(UNAVAILABLE);
    await b.name(digest, bytes.length);
    // A row names it: its bytes are there.
    await a.name(digest, bytes.length);
    other.release();
    release();
    await Promise.all([a.settled(), b.settled()]);
    await expectNamed();
  });

  it('names what nobody has erased', async () => {
    const { release } = await a.blobs.put(bytes);
    store.clock.advance(2 * PIN_MS);
    await a.name(digest, bytes.length);
    release();
    await a.settled();
    await expectNamed();
    expect(await store.marks()).toBe(0);
  });
});

describe('a gateway that stands still for longer than its claim holds', () => {
  it.each<Point>(['before take', 'after take', 'before endErasure'])(
    'gives back what it took away, %s',
    async (point) => {
      const { go, removal } = await lateErasure(point);
      go();
      await removal;
      await expectNamed();
      expect(await store.marks()).toBe(0);
    },
  );

  it('and then dies is made good by a sweep', async () => {
    const { go } = await lateErasure('before take');
    const dead = dieAt(a, 'after take');
    go();
    await dead;
    expect(store.bytes(digest)).toBeNull();
    expect(store.files()).toEqual([expect.stringMatching(`^${digest}\\.[0-9a-f-]{36}\\.erased$`)]);
    await b.sweep();
    expect(store.bytes(digest)).toBeNull();
    store.clock.advance(2 * PIN_MS);
    await b.sweep();
    await expectNamed();
  });
});

describe('an answer that is lost', () => {
  it.each<Point>(['after pinBlob', 'after claimErasure', 'after endErasure'])(
    '%s leaves nothing wrong',
    async (point) => {
      await leaveOrphan();
      a.at = async (one) => {
        if (one === point) throw new Error('lost');
      };
      const work = point === 'after pinBlob' ? a.blobs.put(bytes) : a.remove(digest);
      await expect(work).rejects.toThrow('lost');
      a.at = async () => undefined;
      await a.settled();
      store.clock.advance(2 * PIN_MS);
      await b.dropPins();
      await save(b);
      await b.sweep();
      await expectNamed();
    },
  );
});

describe('a sweep', () => {
  it('leaves what another gateway has pinned, until that pin has lapsed', async () => {
    await leaveOrphan();
    store.clock.advance(2 * PIN_MS);
    const { release } = await a.blobs.put(bytes);
    await b.sweep();
    expect(store.bytes(digest)).toBe(TEXT);
    // It dies before it can say that it has let go.
    a.remove = async () => undefined;
    release();
    store.clock.advance(PIN_MS - 1);
    await b.sweep();
    expect(store.bytes(digest)).toBe(TEXT);
    store.clock.advance(1);
    await b.sweep();
    await expectGone();
  });

  it('writes nothing for blobs that rows name', async () => {
    await save(a);
    store.clock.advance(2 * PIN_MS);
    const before = store.position;
    await b.sweep();
    expect(store.position).toBe(before);
    await expectNamed();
  });
});
