import type { LookupAddress } from 'node:dns';
import { expect, it } from 'vitest';
import { Names } from '../../../daemon/upstream/connecting.ts';

type Done = Parameters<Names['lookUp']>[2];

const THERE: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];

/** A resolver that answers when a test says so. */
class Resolver {
  readonly asked: Done[] = [];
  readonly names = new Names((_hostname, _options, done) => this.asked.push(done));

  find(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.names.lookUp('gateway.example', { all: true }, (error, address) => {
        if (error) reject(error);
        else resolve(address);
      });
    });
  }
}

it('a name server that hangs is asked once, and leaves a name the addresses that it had', async () => {
  const resolver = new Resolver();
  const first = [resolver.find(), resolver.find()];
  expect(resolver.asked).toHaveLength(1);
  resolver.asked[0]?.(null, THERE, undefined);
  expect(await Promise.all(first)).toEqual([THERE, THERE]);
  expect(await Promise.all([resolver.find(), resolver.find()])).toEqual([THERE, THERE]);
  expect(resolver.asked).toHaveLength(2);
});

it('a name server that is away leaves a name its addresses, and one that knows no such name does not', async () => {
  const resolver = new Resolver();
  const fail = (code: string): void =>
    resolver.asked.at(-1)?.(Object.assign(new Error(code), { code }));
  const unknown = resolver.find();
  fail('EAI_AGAIN');
  await expect(unknown).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  const known = resolver.find();
  resolver.asked.at(-1)?.(null, THERE, undefined);
  await known;
  const away = resolver.find();
  fail('EAI_AGAIN');
  expect(await away).toEqual(THERE);
  const gone = resolver.find();
  fail('ENOTFOUND');
  await expect(gone).rejects.toMatchObject({ code: 'ENOTFOUND' });
});
