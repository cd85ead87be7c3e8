import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attachment } from '../../../gateway/lib/attachment.ts';

const FORM = /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''([\w!#$&+\-.^`|~%]*)$/;

/** The two names a client may read. */
function names(path: string): { plain: string; extended: string } {
  const [, plain = '', extended = ''] = FORM.exec(attachment(path)) ?? [];
  return { plain, extended: decodeURIComponent(extended) };
}

describe('the name of a download', () => {
  it.each([
    ['reports/may.pdf', 'may.pdf', 'may.pdf'],
    ['a b.txt', 'a b.txt', 'a b.txt'],
    ['"; x="y.txt', '_; x=_y.txt', '"; x="y.txt'],
    ['back\\slash', 'back_slash', 'back\\slash'],
    ['100%41.txt', '100_41.txt', '100%41.txt'],
    ["it's (1)*.txt", "it's (1)*.txt", "it's (1)*.txt"],
    ['höhe–€😀.txt', 'h_he___.txt', 'höhe–€😀.txt'],
    ['a\r\nSet-Cookie: b', 'a__Set-Cookie: b', 'a\r\nSet-Cookie: b'],
    ['gepj.\u202Egpj.exe', 'gepj._gpj.exe', 'gepj._gpj.exe'],
  ])('%j', (path, plain, extended) => {
    expect(names(path)).toEqual({ plain, extended });
  });

  it('is printable ASCII of one form, whatever the path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 512 }), (path) => {
        expect(attachment(path)).toMatch(FORM);
        expect(attachment(path)).toMatch(/^[\x20-\x7e]+$/);
      }),
    );
  });
});
