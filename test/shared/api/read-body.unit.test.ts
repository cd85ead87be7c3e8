import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Admission } from '../../../shared/admission/admission.ts';
import { AdmittedRequest } from '../../../shared/admission/admitted-request.ts';
import { readBody, refuseEncoded } from '../../../shared/api/read-body.ts';
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
    const body = readBody({ incoming: request }, MIB);
    for (let at = 0; at < length; at += 997) request.push(bytes.subarray(at, at + 997));
    request.push(null);
    expect(Buffer.compare(await body, bytes)).toBe(0);
  });

  it('of nothing is empty', async () => {
    const request = incoming();
    const body = readBody({ incoming: request }, MIB);
    request.push(null);
    expect((await body).length).toBe(0);
  });

  it('in chunks of one byte keeps none of the buffers they came in', async () => {
    const request = incoming();
    const body = readBody({ incoming: request }, MIB);
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
    const body = readBody({ incoming: request }, MIB);
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
    const taken = readBody({ incoming: exact }, limit);
    for (const part of [limit - 1, 1]) exact.push(Buffer.alloc(part));
    exact.push(null);
    expect((await taken).length).toBe(limit);
    const longer = incoming();
    const refused = readBody({ incoming: longer }, limit);
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
    await expect(readBody({ incoming: request }, MIB)).rejects.toThrow('The sender went away.');
  });
});

describe('many bodies at once', () => {
  const admission = Admission.hosted();
  /** A sign-in from one address, which may hold 512 KB. */
  const from = (request: IncomingMessage) => ({
    incoming: request,
    visit: {
      clientAddress: '192.0.2.1',
      admitted: new AdmittedRequest(admission, '192.0.2.1'),
      requestId: null,
      delivery: null,
    },
  });
  const held = () => admission.bodyBytes('anonymous');

  it('are refused when their address has as many as it may', async () => {
    const first = incoming();
    const kept = readBody(from(first), MIB);
    first.push(Buffer.alloc(400 * KIB));
    await arrived();
    const second = incoming();
    const refused = readBody(from(second), MIB);
    second.push(Buffer.alloc(112 * KIB));
    second.push(Buffer.alloc(1));
    const error = await refusal(refused);
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      details: { retry_after: 1, limit: 512 * KIB, used: 512 * KIB, of: 'address' },
    });
    expect(error?.headers()).toEqual({ Connection: 'close', 'Retry-After': '1' });
    expect(held()).toBe(400 * KIB);
    first.push(null);
    expect((await kept).length).toBe(400 * KIB);
    expect(held()).toBe(0);
  });

  it('take no room for what was only announced', async () => {
    const announced = readBody(from(incoming({ 'content-length': '1000000' })), MIB);
    announced.catch(() => undefined);
    expect(held()).toBe(0);
  });

  it('give their room back when their senders leave or send too much', async () => {
    const left = incoming();
    const broken = readBody(from(left), MIB);
    left.push(Buffer.alloc(500));
    await arrived();
    expect(held()).toBe(500);
    left.destroy();
    await expect(broken).rejects.toThrow('The sender went away.');
    const long = incoming();
    const refused = readBody(from(long), 10);
    for (const part of [10, 1]) long.push(Buffer.alloc(part));
    expect(await refusal(refused)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(held()).toBe(0);
  });
});

describe('an encoding', () => {
  it.each(['gzip', 'br', 'gzip, identity', 'utf-8, gzip'])('%j is refused', (encoding) => {
    const request = incoming({ 'content-encoding': encoding });
    expect(() => refuseEncoded(request)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE' }),
    );
  });

  it('that is none is fine', () => {
    expect(() => refuseEncoded(incoming())).not.toThrow();
    // Some senders put a charset there, or nothing.
    for (const encoding of ['Identity', '', ' ', 'utf-8', 'UTF-8', 'utf8', 'none']) {
      expect(() => refuseEncoded(incoming({ 'content-encoding': encoding }))).not.toThrow();
    }
  });
});
