import { describe, expect, it } from 'vitest';
import { diskRefusal, refusalOf } from '../../shared/store/engine/disk-trouble.ts';

function errorWith(code: string): Error {
  return Object.assign(new Error('no'), { code });
}

describe('a write that the disk refused', () => {
  it.each([
    ['SQLITE_FULL', 'disk_full', "The server's disk is full."],
    ['ENOSPC', 'disk_full', "The server's disk is full."],
    ['EDQUOT', 'disk_full', "The server's disk is full."],
    ['SQLITE_READONLY', 'read_only', "The server can't write its data: a file or folder is"],
    ['SQLITE_READONLY_DBMOVED', 'read_only', "The server can't write its data"],
    ['SQLITE_CANTOPEN', 'read_only', "The server can't write its data"],
    ['EROFS', 'read_only', "The server can't write its data"],
    ['EACCES', 'read_only', "The server can't write its data"],
    ['EPERM', 'read_only', "The server can't write its data"],
    ['SQLITE_IOERR_WRITE', 'disk_failed', "The server's disk failed a write."],
    ['EIO', 'disk_failed', "The server's disk failed a write."],
  ])('says so, and when to send it again: %s', (code, kind, hint) => {
    const refusal = refusalOf(errorWith(code));
    expect(refusal.status).toBe(503);
    expect(refusal.headers()).toMatchObject({ 'Retry-After': '5' });
    expect(refusal.body().error).toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining(hint),
      details: { retry_after: 5, kind },
    });
  });

  it('is no trouble of the disk for other reasons', () => {
    expect(diskRefusal(errorWith('SQLITE_BUSY'))).toBeNull();
    expect(diskRefusal(new Error('x'))).toBeNull();
    expect(refusalOf(errorWith('SQLITE_BUSY')).body().error.hint).toBe('Repeat it in 5 seconds.');
  });
});
