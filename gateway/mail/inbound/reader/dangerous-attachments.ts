import type { BlockedFile } from '../read-mail.ts';

/** Files that Windows, macOS or Linux desktops run when opened, containers for such files, and Office files with macros. */
const RUN_WHEN_OPENED = new Set(
  (
    'ade adp apk app appimage application appref-ms appx appxbundle bas bat cab chm cmd com command cpl ' +
    'crx deb desktop diagcab dll dmg docm dotm elf exe gadget hlp hta img inf ins iso isp jar jnlp js jse ' +
    'ksh library-ms lnk mda mde mdz mpkg msc msh msi msix msixbundle msp mst msu nsh ocx osd pcd pif pkg ' +
    'potm ppam ppsm pptm prg ps1 ps1xml ps2 ps2xml psc1 psc2 psm1 py pyc pyw pyz reg rpm run scf scpt ' +
    'scptd scr sct search-ms settingcontent-ms sh shb shs sldm slk so sys terminal udl url vb vbe vbs vhd ' +
    'vhdx vsw vxd webloc website workflow ws wsc wsf wsh xbap xlam xll xlsm xltm xnk zsh'
  ).split(' '),
);

const MACRO_PROJECT = 'vbaproject.bin';
const ZIP_LOCAL = Buffer.from('PK\x03\x04', 'latin1');
const ZIP_CENTRAL = Buffer.from('PK\x01\x02', 'latin1');
/** Offsets from the start of the mark. */
const LOCAL_ENTRY = { flags: 6, method: 8, nameLength: 26, name: 30 };
const CENTRAL_ENTRY = { flags: 8, method: 10, nameLength: 28, name: 46 };
const ZIP_METHOD_MAX = 99;
const ZIP_NAME_MAX_BYTES = 1024;
const ZIP_ENCRYPTED = 0x0001;

const SEVEN_ZIP = Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]);
/** The id of AES-256 in a 7z archive. */
const SEVEN_ZIP_AES = Buffer.from([0x06, 0xf1, 0x07, 0x01]);
const RAR4 = Buffer.from('Rar!\x1a\x07\x00', 'latin1');
const RAR5 = Buffer.from('Rar!\x1a\x07\x01\x00', 'latin1');

/** The first bytes of programs: DOS and Windows, Linux, macOS (four variants and universal binaries), scripts. */
const MAGICS = [
  'MZ',
  '\x7fELF',
  '\xfe\xed\xfa\xce',
  '\xfe\xed\xfa\xcf',
  '\xce\xfa\xed\xfe',
  '\xcf\xfa\xed\xfe',
  '\xca\xfe\xba\xbe',
  '#!',
].map((magic) => Buffer.from(magic, 'latin1'));

type Danger = Extract<BlockedFile['reason'], 'executable' | 'encrypted_archive'>;

/** Why a file is blocked, or null. Looks at its name, its first bytes, and the entries of a zip archive. */
export function dangerOf(name: string, bytes: Buffer): Danger | null {
  if (isRunWhenOpened(name) || MAGICS.some((magic) => startsWith(bytes, magic)))
    return 'executable';
  if (startsWith(bytes, ZIP_LOCAL)) return zipDanger(bytes);
  return isEncryptedRar(bytes) || isEncryptedSevenZip(bytes) ? 'encrypted_archive' : null;
}

function isRunWhenOpened(name: string): boolean {
  const lower = name.toLowerCase().replace(/[. ]+$/, '');
  // A macOS program is a folder.
  if (lower.includes('.app/')) return true;
  return lower.includes('.') && RUN_WHEN_OPENED.has(lower.slice(lower.lastIndexOf('.') + 1));
}

/**
 * Looks for entries anywhere, not just through the directory: programs disagree about which of two directories counts, and
 * about entries that no directory lists.
 */
function zipDanger(bytes: Buffer): Danger | null {
  let encrypted = false;
  for (const [mark, entry] of [
    [ZIP_CENTRAL, CENTRAL_ENTRY],
    [ZIP_LOCAL, LOCAL_ENTRY],
  ] as const) {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
      const found = zipEntry(bytes.subarray(at), entry);
      if (found === null) continue;
      if (isRunWhenOpened(found.name) || found.name.toLowerCase().endsWith(MACRO_PROJECT)) {
        return 'executable';
      }
      encrypted ||= found.encrypted;
    }
  }
  return encrypted ? 'encrypted_archive' : null;
}

function zipEntry(
  bytes: Buffer,
  entry: typeof LOCAL_ENTRY,
): { readonly name: string; readonly encrypted: boolean } | null {
  if (bytes.length < entry.name) return null;
  const length = bytes.readUInt16LE(entry.nameLength);
  const method = bytes.readUInt16LE(entry.method);
  // The mark may occur inside compressed bytes.
  if (method > ZIP_METHOD_MAX || length === 0 || length > ZIP_NAME_MAX_BYTES) return null;
  return {
    name: bytes.toString('latin1', entry.name, entry.name + length),
    encrypted: (bytes.readUInt16LE(entry.flags) & ZIP_ENCRYPTED) !== 0,
  };
}

/** RAR 4 has flags for it on the archive and its first file; RAR 5 starts with an encryption header. */
function isEncryptedRar(bytes: Buffer): boolean {
  if (startsWith(bytes, RAR5)) return isEncryptedRar5(bytes.subarray(RAR5.length));
  if (!startsWith(bytes, RAR4) || bytes.length < RAR4.length + 7) return false;
  const archive = bytes.subarray(RAR4.length);
  if ((archive.readUInt16LE(3) & 0x0080) !== 0) return true;
  const file = archive.subarray(archive.readUInt16LE(5));
  return file.length >= 5 && file[2] === 0x74 && (file.readUInt16LE(3) & 0x0004) !== 0;
}

function isEncryptedRar5(blocks: Buffer): boolean {
  // A checksum of 4 bytes, then the length of the header in 7 bits per byte, then its type.
  let at = 4;
  while (((blocks[at] ?? 0) & 0x80) !== 0 && at < 8) at += 1;
  return blocks[at + 1] === 4;
}

/** The index comes after the packed files. If the index is packed too, we see only its own packing. */
function isEncryptedSevenZip(bytes: Buffer): boolean {
  if (!startsWith(bytes, SEVEN_ZIP) || bytes.length < 32) return false;
  const start = 32 + Number(bytes.readBigUInt64LE(12));
  return start < bytes.length && bytes.subarray(start).includes(SEVEN_ZIP_AES);
}

function startsWith(bytes: Buffer, magic: Buffer): boolean {
  return bytes.length >= magic.length && bytes.subarray(0, magic.length).equals(magic);
}
