import { describe, expect, it } from 'vitest';
import { readableLogLine } from '../../daemon/log/log-line.ts';

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
