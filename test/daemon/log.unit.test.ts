import { describe, expect, it } from 'vitest';
import { redact } from '../../daemon/log.ts';
import { readableLogLine } from '../../daemon/log-line.ts';

describe('redact', () => {
  it.each([
    ['a key inside a sentence', '{"msg":"bad key svc_live_abc123XYZ given"}', 'abc123XYZ'],
    ['a signing secret', '{"err":{"stack":"at whsec_Zm9v+bar/baz= x"}}', 'Zm9v'],
    ['an authorization header', '{"headers":{"authorization":"Basic dTpw \\" quoted"}}', 'dTpw'],
    ['a bearer token in text', '{"msg":"sent Bearer abc.def-ghi"}', 'abc.def'],
    ['a cookie', '{"Cookie":"session=topsecret"}', 'topsecret'],
    ['the token of a webhook address', '{"url":"/w/0123456789abcdefTOKEN"}', 'TOKEN'],
    ['the signature of a payload link', '{"url":"/l/abc/evt_01/123/sIg-na_ture"}', 'sIg-na_ture'],
  ])('hides %s', (_, line, secret) => {
    const shown = redact(line);
    expect(shown).not.toContain(secret);
    expect(shown).toContain('[redacted]');
    expect(() => JSON.parse(shown)).not.toThrow();
  });

  it('keeps the rest', () => {
    const line = '{"level":30,"msg":"ready","base_url":"http://127.0.0.1:4780"}';
    expect(redact(line)).toBe(line);
  });

  it('takes linear time on long lines', () => {
    const line = `{"msg":"${'"authorization":"\\'.repeat(50_000)}`;
    const started = performance.now();
    redact(line);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('readableLogLine', () => {
  it('shows level, message and fields, then the stack', () => {
    const line = JSON.stringify({
      level: 50,
      time: 0,
      pid: 1,
      msg: 'failed',
      request_id: 'abc',
      err: { stack: 'Error: no\n    at here' },
    });
    expect(readableLogLine(line)).toMatch(
      /^\d\d:\d\d:00\.000 error failed request_id=abc\n {4}Error: no\n {4}at here$/,
    );
  });

  it('leaves other text alone', () => {
    expect(readableLogLine('svc: Port 1 is taken.')).toBe('svc: Port 1 is taken.');
  });
});
