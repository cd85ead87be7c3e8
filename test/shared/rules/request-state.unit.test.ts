import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  effectiveRequestStatus,
  REQUEST_KINDS,
  REQUEST_STATUSES,
  resolutionOf,
  type Choice,
} from '../../../shared/rules/requests/request-state.ts';

const NOW = 1_000_000;

describe('effectiveRequestStatus', () => {
  it.each([
    ['pending', NOW + 1, 'pending'],
    ['pending', NOW, 'expired'],
    ['pending', NOW - 1, 'expired'],
    ['approved', NOW - 1, 'approved'],
    ['denied', NOW, 'denied'],
    ['expired', NOW + 1, 'expired'],
  ])('of %s that ends at %d is %s', (status, expires_at, effective) => {
    expect(effectiveRequestStatus({ status, expires_at }, NOW)).toBe(effective);
  });

  it('never makes anything of a final status', () => {
    const final = REQUEST_STATUSES.filter((status) => status !== 'pending');
    expect(final).toHaveLength(6);
    for (const status of final) {
      for (const expires_at of [0, NOW, NOW * 2]) {
        expect(effectiveRequestStatus({ status, expires_at }, NOW)).toBe(status);
      }
    }
  });
});

const APPROVAL = { kind: 'approval', options: ['half', 'later'] } as const;
const QUESTION = { kind: 'question', options: ['eu', 'us'] } as const;

describe('resolutionOf an approval', () => {
  it.each([
    [{ verb: 'approve' }, 'approved', null, null],
    [{ verb: 'approve', comment: '' }, 'approved', null, null],
    [{ verb: 'approve', comment: '\n go \n' }, 'approved', null, 'go'],
    [{ verb: 'deny', comment: 'no' }, 'denied', null, 'no'],
    [{ verb: 'option', index: 0 }, 'modified', 'half', null],
    [{ verb: 'option', index: 1, comment: 'c' }, 'modified', 'later', 'c'],
    [{ verb: 'needs_context', comment: 'why' }, 'needs_context', null, 'why'],
  ] as const)('by %j is %s', (choice, status, decision, comment) => {
    expect(resolutionOf(APPROVAL, choice)).toEqual({ status, decision, comment });
  });

  it.each([
    { verb: 'answer', text: 'yes' },
    { verb: 'option', index: 2 },
    { verb: 'option', index: -1 },
    { verb: 'option', index: 0.5 },
    { verb: 'option', index: Number.NaN },
    { verb: 'option', index: Number.POSITIVE_INFINITY },
    { verb: 'needs_context', comment: '' },
    { verb: 'needs_context', comment: '\0 \t' },
  ] as const)('by %j is none', (choice) => {
    expect(resolutionOf(APPROVAL, choice)).toEqual({ problem: expect.stringMatching(/\.$/) });
  });
});

describe('resolutionOf a question', () => {
  it.each([
    [{ verb: 'option', index: 1, comment: 'c' }, 'answered', 'us', 'c'],
    [{ verb: 'answer', text: ' Neither\n' }, 'answered', 'Neither', null],
    [{ verb: 'needs_context', comment: 'why' }, 'needs_context', null, 'why'],
  ] as const)('by %j is %s', (choice, status, decision, comment) => {
    expect(resolutionOf(QUESTION, choice)).toEqual({ status, decision, comment });
  });

  it.each([
    { verb: 'approve' },
    { verb: 'deny', comment: 'no' },
    { verb: 'answer', text: ' ' },
    { verb: 'answer', text: '\0\0' },
    { verb: 'option', index: 2 },
  ] as const)('by %j is none', (choice) => {
    expect(resolutionOf(QUESTION, choice)).toEqual({ problem: expect.stringMatching(/\.$/) });
  });
});

describe('what a person wrote', () => {
  it('is cut on a whole character', () => {
    const comment = `${'x'.repeat(999)}👍👍`;
    expect(resolutionOf(APPROVAL, { verb: 'deny', comment })).toMatchObject({
      comment: `${'x'.repeat(999)}👍`,
    });
    const text = `${'x'.repeat(3999)}👍👍`;
    expect(resolutionOf(QUESTION, { verb: 'answer', text })).toMatchObject({
      decision: `${'x'.repeat(3999)}👍`,
    });
  });

  it('is always something a row can hold', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('\0', '\ud800', '\udc00', 'a', ' ')).map((parts) => parts.join('')),
    );
    const choice: fc.Arbitrary<Choice> = fc.oneof(
      fc.record({ verb: fc.constantFrom('approve', 'deny'), comment: text }),
      fc.record({ verb: fc.constant('option'), index: fc.integer(), comment: text }),
      fc.record({ verb: fc.constant('answer'), text }),
      fc.record({ verb: fc.constant('needs_context'), comment: text }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...REQUEST_KINDS), choice, (kind, made) => {
        const end = resolutionOf({ kind, options: ['one'] }, made);
        if ('problem' in end) return;
        for (const kept of [end.decision, end.comment]) {
          expect(kept ?? 'x').toMatch(/^[^\0]+$/su);
          expect((kept ?? 'x').isWellFormed()).toBe(true);
        }
        expect(end.status === 'modified').toBe(kind !== 'question' && made.verb === 'option');
        expect(end.status === 'answered').toBe(
          kind === 'question' && (made.verb === 'option' || made.verb === 'answer'),
        );
      }),
    );
  });
});
