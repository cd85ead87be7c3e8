const NAME_MAX_BYTES = 200;
const EXTENSION_MAX_BYTES = 20;
/** Extensions for attachments without a name, so that a program opens them. */
const NAMELESS_EXTENSIONS: Readonly<Record<string, string>> = { 'message/rfc822': 'eml' };

/** Characters that separate folders or are special on some system. */
const SEPARATORS = /[/\\:*?"<>|]/g;
/** Controls, and marks that reorder or hide text: `exe.fdp` must not look like `pdf.exe`. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd]/g;
/** Names that Windows treats as devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Gives each attachment of one mail a unique name that is safe as the end of a path. */
export class FileNames {
  readonly #taken = new Set<string>();
  #count = 0;

  /** Names that differ only in case count as the same, as they do on many disks. */
  next(given: string | null, contentType: string): string {
    this.#count += 1;
    const extension = NAMELESS_EXTENSIONS[contentType] ?? 'bin';
    const name = safeName(given ?? '') || `attachment-${this.#count}.${extension}`;
    let unique = name;
    for (let number = 2; this.#taken.has(unique.toLowerCase()); number += 1) {
      unique = fitted(name, `-${number}`);
    }
    this.#taken.add(unique.toLowerCase());
    return unique;
  }
}

function safeName(given: string): string {
  const shown = given.toWellFormed().replace(UNSEEN, '').replace(SEPARATORS, '_');
  // Windows drops dots and blanks at the end, which could give the file another extension.
  const trimmed = shown
    .replace(/\s+/g, ' ')
    .trimStart()
    .slice(0, NAME_MAX_BYTES * 4);
  const name = withoutTail(trimmed);
  return fitted(DEVICE.test(name) ? `_${name}` : name, '');
}

function withoutTail(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1;
  return name.slice(0, end);
}

/** Puts `addition` before the extension, and shortens the part before it if the name is too long. */
function fitted(name: string, addition: string): string {
  const dot = name.lastIndexOf('.');
  const found = dot > 0 ? name.slice(dot) : '';
  const extension = Buffer.byteLength(found) <= EXTENSION_MAX_BYTES ? found : '';
  const stem = name.slice(0, name.length - extension.length);
  const room = NAME_MAX_BYTES - Buffer.byteLength(addition + extension);
  const cut = cutBytes(stem, room);
  return (cut === stem ? stem : withoutTail(cut)) + addition + extension;
}

function cutBytes(text: string, maxBytes: number): string {
  let bytes = 0;
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}
