import { describe, expect, it } from 'vitest';
import { redact } from '../../../shared/lib/redact.ts';
import { growsInProportion } from '../../helpers/growth.ts';

describe('redact', () => {
  it.each([
    ['a key inside a sentence', '{"msg":"bad key svc_live_abc123XYZ given"}', 'abc123XYZ'],
    ['a signing secret', '{"err":{"stack":"at whsec_Zm9v+bar/baz= x"}}', 'Zm9v'],
    ['an authorization header', '{"headers":{"authorization":"Basic dTpw \\" quoted"}}', 'dTpw'],
    ['a bearer token in text', '{"msg":"sent Bearer abc.def-ghi"}', 'abc.def'],
    ['a cookie', '{"Cookie":"session=topsecret"}', 'topsecret'],
    ['the token of a webhook address', '{"url":"/w/0123456789abcdefTOKEN"}', 'TOKEN'],
    [
      'the token of a page',
      '{"url":"https://x.example/a/0123456789abcdefTOKENtokenTOKENtokenTOKEN"}',
      'TOKENtoken',
    ],
    [
      'a token by itself',
      '{"msg":"no 0123456789abcdefTOKENtokenTOKENtokenTOKE here"}',
      'TOKENtoken',
    ],
    [
      'the rest of a download link',
      '{"url":"/d/0123456789abcdef/ZmlsZQ/3/99/sIg-na_ture"}',
      'sIg-na_ture',
    ],
    [
      'the password of a mail server',
      '{"msg":"smtp://ana:s3cr%40t@mail.example:587 refused"}',
      's3cr',
    ],
    [
      'the token of a bot',
      '{"msg":"https://api.telegram.org/bot123456:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr/getMe"}',
      'AAbbCC',
    ],
    ['the signature of a link to a mail', '{"url":"/m/abc/evt_01/123/sIg-na_ture"}', 'sIg-na_ture'],
    [
      'the signature of a link to a kept mail',
      '{"url":"/m/abc/msg_01/123/sIg-na_ture"}',
      'sIg-na_ture',
    ],
    ['a link into the web inbox', '{"url":"https://x.example/ui/open/TOKENtoken"}', 'TOKENtoken'],
    ['a mailed link into it', '{"url":"/base/ui/sign-in/TOKENtoken"}', 'TOKENtoken'],
    ['the signature of a payload link', '{"url":"/l/abc/evt_01/123/sIg-na_ture"}', 'sIg-na_ture'],
  ])('hides %s', (_, line, secret) => {
    const shown = redact(line);
    expect(shown).not.toContain(secret);
    expect(shown).toContain('[redacted]');
    expect(() => JSON.parse(shown)).not.toThrow();
  });

  it('keeps the rest', () => {
    const line =
      '{"level":30,"msg":"ready","base_url":"http://127.0.0.1:4780","project":"prj_0123456789abcdef","event":"evt_01j9z3k4m5n6p7q8r9s0t1v2w3","at":"/v1/files/d/report.pdf"}';
    expect(redact(line)).toBe(line);
  });

  it('takes linear time on long lines', () => {
    for (const piece of ['"authorization":"\\', 'a://', '/d/a/', '0123456789abcdef', '123456:']) {
      const hide = (length: number) => redact(`{"msg":"${piece.repeat(length)}`);
      expect([piece, growsInProportion(hide, 50_000)]).toEqual([piece, true]);
    }
  });
});
