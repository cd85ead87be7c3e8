import { describe, expect, it } from 'vitest';
import { dangerOf } from '../../../../../gateway/mail/inbound/reader/dangerous-attachments.ts';

const harmless = Buffer.from('harmless');

/** A zip archive as far as its entries can be told: local headers, then the directory. */
function zip(names: readonly string[], flags = 0): Buffer {
  const entry = (mark: string, size: number, at: number, nameAt: number) => (name: string) => {
    const header = Buffer.alloc(size);
    header.write(mark, 'latin1');
    header.writeUInt16LE(flags, at);
    header.writeUInt16LE(name.length, nameAt);
    return Buffer.concat([header, Buffer.from(name)]);
  };
  const local = names.map(entry('PK\x03\x04', 30, 6, 26));
  const central = names.map(entry('PK\x01\x02', 46, 8, 28));
  return Buffer.concat([...local, Buffer.from('data'), ...central, Buffer.from('PK\x05\x06')]);
}

describe('a file that may not be handed on', () => {
  it.each(
    'a.exe a.SCR a.js a.vbs a.ps1 a.lnk a.iso a.img a.jar a.msi a.bat a.cmd a.com a.hta a.apk a.dmg a.reg a.wsf a.cpl a.pif a.docm a.xlsm a.pptm invoice.pdf.exe a.sh'.split(
      ' ',
    ),
  )('is run when it is opened: %s', (name) => {
    expect(dangerOf(name, harmless)).toBe('executable');
  });

  it.each(['a.exe.', 'a.exe ', 'a.app/'])('is so behind what systems take away: "%s"', (name) => {
    expect(dangerOf(name, harmless)).toBe('executable');
  });

  it('is a program by its first bytes', () => {
    for (const magic of [
      'MZ\x90\0',
      '\x7fELF\x02',
      '\xcf\xfa\xed\xfe',
      '\xca\xfe\xba\xbe',
      '#!/bin/sh\n',
    ]) {
      expect(dangerOf('a.txt', Buffer.from(magic, 'latin1'))).toBe('executable');
    }
  });

  it('is an archive with such a file in it', () => {
    expect(dangerOf('a.zip', zip(['read.me', 'in/invoice.pdf.exe']))).toBe('executable');
    expect(dangerOf('a.docx', zip(['word/document.xml', 'word/vbaProject.bin']))).toBe(
      'executable',
    );
    expect(dangerOf('a.bin', zip(['Tool.app/Contents/Info.plist']))).toBe('executable');
    // The directory says nothing of it.
    const hidden = Buffer.concat([zip(['a.exe']).subarray(0, 35), zip(['read.me'])]);
    expect(dangerOf('a.zip', hidden)).toBe('executable');
  });

  it('is an archive that nobody can look into', () => {
    expect(dangerOf('a.zip', zip(['read.me'], 1))).toBe('encrypted_archive');
    const rar4 = Buffer.from('Rar!\x1a\x07\0\0\0\x73\x80\0\x0d\0', 'latin1');
    expect(dangerOf('a.rar', rar4)).toBe('encrypted_archive');
    const rar5 = Buffer.from('Rar!\x1a\x07\x01\0\0\0\0\0\x21\x04', 'latin1');
    expect(dangerOf('a.rar', rar5)).toBe('encrypted_archive');
    const seven = Buffer.concat([Buffer.alloc(32), Buffer.from([0x17, 0x06, 0xf1, 0x07, 0x01])]);
    seven.set([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]);
    expect(dangerOf('a.7z', seven)).toBe('encrypted_archive');
  });
});

describe('a file that may', () => {
  it('has a harmless name and content', () => {
    for (const name of ['a.pdf', 'a.docx', 'exe', 'a', 'a.txt', 'my.company', 'README', 'a.csv']) {
      expect(dangerOf(name, harmless)).toBe(null);
    }
    expect(dangerOf('a', Buffer.alloc(0))).toBe(null);
  });

  it('is an archive of such files', () => {
    expect(dangerOf('a.zip', zip(['read.me', 'a/b.pdf']))).toBe(null);
    expect(dangerOf('a.rar', Buffer.from('Rar!\x1a\x07\0\0\0\x73\0\0\x0d\0', 'latin1'))).toBe(null);
    expect(dangerOf('a.rar', Buffer.from('Rar!\x1a\x07\x01\0\0\0\0\0\x0b\x01', 'latin1'))).toBe(
      null,
    );
    const seven = Buffer.concat([Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1'), Buffer.alloc(40)]);
    expect(dangerOf('a.7z', seven)).toBe(null);
    // Cut short, or with a mark in the middle of something else.
    expect(dangerOf('a.zip', Buffer.from('PK\x03\x04'))).toBe(null);
    expect(dangerOf('a.zip', Buffer.concat([zip(['a.md']), Buffer.from('PK\x01\x02')]))).toBe(null);
  });
});
