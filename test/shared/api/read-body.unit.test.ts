import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Intake, readBody, refuseEncoded } from '../../../shared/api/read-body.ts';
import { asServiceError, type ServiceError } from '../../../shared/lib/errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

function incoming(headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  return request;
}

/** Lets what was pushed arrive. */
const arrived = () => new Promise((resolve) => setImmediate(resolve));

function refusal(body: Promise<unknown>): Promise<ServiceError | null> {
  return body.then(() => null, asServiceError);
}

/** Bytes that tell their places. */
const pattern = (length: number) => Buffer.from(Array.from({ length }, (_, n) => n % 251));

describe('a body', () => {
  it.each([
    ['told', 300 * KIB],
    ['not told', 300 * KIB],
    ['told', 5],
    ['not told', 20 * KIB],
  ])('in many chunks, its length %s, is whole: %i bytes', async (told, length) => {
    const bytes = pattern(length);
    const request = incoming(told === 'told' ? { 'content-length': `${length}` } : {});
    const body = readBody(request, MIB);
    for (let at = 0; at < length; at += 997) request.push(bytes.subarray(at, at + 997));
    request.push(null);
    expect(Buffer.compare(await body, bytes)).toBe(0);
  });

  it('of nothing is empty', async () => {
    const request = incoming();
    const body = readBody(request, MIB);
    request.push(null);
    expect((await body).length).toBe(0);
  });

  it('in chunks of one byte keeps none of the buffers they came in', async () => {
    const request = incoming();
    const body = readBody(request, MIB);
    const slabs: Buffer[] = [];
    for (let n = 0; n < 1000; n++) {
      const slab = Buffer.alloc(64, n % 251);
      slabs.push(slab);
      request.push(slab.subarray(0, 1));
    }
    await arrived();
    // Whatever still pointed into them would change with them.
    for (const slab of slabs) slab.fill(255);
    request.push(null);
    expect(Buffer.compare(await body, pattern(1000))).toBe(0);
  });

  it('in one chunk is not copied', async () => {
    const request = incoming({ 'content-length': '6' });
    const body = readBody(request, MIB);
    const chunk = Buffer.from('at one');
    request.push(chunk);
    request.push(null);
    const whole = await body;
    expect(whole.buffer).toBe(chunk.buffer);
    expect(whole.toString()).toBe('at one');
  });

  it('may be as long as the limit, and names the limit when it is longer', async () => {
    const limit = 128 * KIB;
    const exact = incoming();
    const taken = readBody(exact, limit);
    for (const part of [limit - 1, 1]) exact.push(Buffer.alloc(part));
    exact.push(null);
    expect((await taken).length).toBe(limit);
    const longer = incoming();
    const refused = readBody(longer, limit);
    for (const part of [limit, 1]) longer.push(Buffer.alloc(part));
    expect(await refusal(refused)).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      hint: 'At most 128 KB.',
    });
  });

  it('whose sender left before anybody listened is not waited for', async () => {
    const request = incoming({ 'content-length': '6' });
    request.destroy();
    await arrived();
    await expect(readBody(request, MIB)).rejects.toThrow('The sender went away.');
  });
});

describe('many bodies at once', () => {
  it('are refused with UNAVAILABLE when they are more than the process has room for', async () => {
    const intake = new Intake(1000);
    const first = incoming();
    const kept = readBody(first, MIB, intake);
    first.push(Buffer.alloc(600));
    await arrived();
    const second = incoming();
    const refused = readBody(second, MIB, intake);
    second.push(Buffer.alloc(400));
    second.push(Buffer.alloc(1));
    const error = await refusal(refused);
    expect(error?.code).toBe('UNAVAILABLE');
    expect(error?.headers()).toEqual({ Connection: 'close', 'Retry-After': '1' });
    expect(intake.bytes).toBe(600);
    first.push(null);
    expect((await kept).length).toBe(600);
    expect(intake.bytes).toBe(0);
  });

  it('take no room for what was only announced', async () => {
    const intake = new Intake(1000);
    const announced = readBody(incoming({ 'content-length': '1000000' }), MIB, intake);
    announced.catch(() => undefined);
    expect(intake.bytes).toBe(0);
  });

  it('give their room back when their senders leave or send too much', async () => {
    const intake = new Intake(1000);
    const left = incoming();
    const broken = readBody(left, MIB, intake);
    left.push(Buffer.alloc(500));
    await arrived();
    expect(intake.bytes).toBe(500);
    left.destroy();
    await expect(broken).rejects.toThrow('The sender went away.');
    const long = incoming();
    const refused = readBody(long, 10, intake);
    for (const part of [10, 1]) long.push(Buffer.alloc(part));
    expect(await refusal(refused)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(intake.bytes).toBe(0);
  });
});

describe('an encoding', () => {
  it.each(['gzip', 'br', 'gzip, identity', ''])('%j is refused', (encoding) => {
    const request = incoming({ 'content-encoding': encoding });
    expect(() => refuseEncoded(request)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE' }),
    );
  });

  it('that is none is fine', () => {
    expect(() => refuseEncoded(incoming())).not.toThrow();
    expect(() => refuseEncoded(incoming({ 'content-encoding': 'Identity' }))).not.toThrow();
  });
});
