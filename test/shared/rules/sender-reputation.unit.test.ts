import { describe, expect, it } from 'vitest';
import { reputationProblem } from '../../../shared/rules/mail/sender-reputation.ts';

describe('the standing of a project', () => {
  it.each([
    [{ sent: 0, bounced: 0, complained: 0 }, false],
    [{ sent: 0, bounced: 9, complained: 0 }, false],
    [{ sent: 0, bounced: 10, complained: 0 }, true],
    [{ sent: 50, bounced: 10, complained: 0 }, true],
    [{ sent: 51, bounced: 10, complained: 0 }, false],
    [{ sent: 350, bounced: 70, complained: 0 }, true],
    [{ sent: 350, bounced: 69, complained: 0 }, false],
    [{ sent: 350, bounced: 0, complained: 2 }, false],
    [{ sent: 350, bounced: 0, complained: 3 }, true],
  ])('%j', (reported, isProblem) => {
    expect(reputationProblem(reported) !== null).toBe(isProblem);
  });

  it('is told in words', () => {
    expect(reputationProblem({ sent: 40, bounced: 12, complained: 0 })).toBe(
      '12 messages bounced within a week, in which 40 were sent',
    );
    expect(reputationProblem({ sent: 40, bounced: 12, complained: 3 })).toBe(
      '3 recipients complained within a week',
    );
  });
});
