interface ParsedMail {
  /** As they stand, unfolded but not decoded. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** Reads a mail of one part as a strict reader would: anything that is not of the form is an error. */
export function parsedMail(raw: string): ParsedMail {
  // oxlint-disable-next-line no-control-regex -- all but ASCII is to be found
  if (/[^\u0000-\u007f]/.test(raw)) throw new Error('not ASCII');
  if (/\r(?!\n)|(?<!\r)\n/.test(raw)) throw new Error('a line end that is not CR LF');
  if (raw.split('\r\n').some((line) => line.length > 998)) throw new Error('a line too long');
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .map((line): [string, string] => {
      const [, name, value] = /^([!-9;-~]+): ?(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`not a header: ${line}`);
      return [name.toLowerCase(), value];
    });
  const encoding = headers.find(([name]) => name === 'content-transfer-encoding')?.[1];
  return { headers, text: decoded(raw.slice(end + 4), encoding ?? '7bit') };
}

/** The values of one header, decoded. */
export function valuesOf({ headers }: ParsedMail, name: string): string[] {
  return headers.filter(([one]) => one === name).map(([, value]) => words(value));
}

function words(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString('latin1')
        : hexDecoded(text.replaceAll('_', ' ')),
    )
    .replace(/[\u0080-\u00ff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'));
}

const decodings: Readonly<Record<string, (body: string) => string>> = {
  'quoted-printable': (body) => hexDecoded(body.replaceAll('=\r\n', '')),
  base64: (body) => Buffer.from(body, 'base64').toString('latin1'),
  '7bit': (body) => body,
};

function decoded(body: string, encoding: string): string {
  const bytes = decodings[encoding]?.(body);
  if (bytes === undefined) throw new Error(`an encoding that is not known: ${encoding}`);
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}

function hexDecoded(text: string): string {
  return text.replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
