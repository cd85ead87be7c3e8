import { describe, expect, it } from 'vitest';
import { beside } from '../../../shared/lib/beside.ts';

const never = new Promise<never>(() => undefined);
const nothing = (): void => undefined;

describe('what stays unanswered', () => {
  it('is sent again when the other side is there, and the first answer counts', async () => {
    const sent: boolean[] = [];
    const looks = [false, false, true];
    const answer = await beside({
      send: (isAgain) => {
        sent.push(isAgain);
        return isAgain ? Promise.resolve('second') : never;
      },
      isThere: async () => looks.shift() ?? true,
      aloneMs: 1,
    });
    expect([answer, sent, looks]).toEqual(['second', [false, true], []]);
  });

  it('is not sent again while nobody is there', async () => {
    let looks = 0;
    let sent = 0;
    const answer = await new Promise((resolve) => {
      let answerFirst: (value: string) => void = nothing;
      void beside({
        send: () => {
          sent += 1;
          return new Promise<string>((first) => (answerFirst = first));
        },
        isThere: async () => {
          looks += 1;
          if (looks === 5) answerFirst('first');
          return false;
        },
        aloneMs: 1,
      }).then(resolve);
    });
    expect([answer, sent]).toEqual(['first', 1]);
  });

  it('ends with an answer', async () => {
    const ended: string[] = [];
    await beside({
      send: (isAgain, signal) => {
        signal.addEventListener('abort', () => ended.push(isAgain ? 'again' : 'first'));
        return isAgain ? Promise.resolve(1) : never;
      },
      isThere: async () => true,
      aloneMs: 1,
    });
    expect(ended.toSorted((a, b) => a.localeCompare(b))).toEqual(['again', 'first']);
  });

  it('waits for the first one though another has failed, and has failed when all have', async () => {
    let failFirst: (error: Error) => void = nothing;
    let sent = 0;
    const failed = beside({
      send: (isAgain) => {
        sent += 1;
        if (sent === 3) failFirst(new Error('first'));
        if (isAgain) return Promise.reject(new Error(`again ${sent}`));
        return new Promise<never>((_, reject) => (failFirst = reject));
      },
      isThere: async () => true,
      aloneMs: 1,
    });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    const messages = ((error as AggregateError).errors as Error[]).map(({ message }) => message);
    expect(messages.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'again 2',
      'again 3',
      'first',
    ]);
  });
});
