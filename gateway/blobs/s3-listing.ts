/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly changedAt: number;
}

interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** The token for the next page; null after the last one. */
  readonly next: string | null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Reads one answer of ListObjectsV2. Leaves out entries it doesn't understand, so nothing happens to them. */
export function readListing(xml: string): ListingPage {
  const objects = Array.from(xml.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, text = '']) => ({
    key: field(text, 'Key') ?? '',
    changedAt: Date.parse(field(text, 'LastModified') ?? ''),
  })).filter(({ key, changedAt }) => key !== '' && Number.isFinite(changedAt));
  const isCut = field(xml, 'IsTruncated') === 'true';
  return { objects, next: isCut ? field(xml, 'NextContinuationToken') : null };
}

/** The code of an error answer; empty if it has none. */
export function readErrorCode(xml: string): string {
  return /<Error>.*?<Code>(\w{1,64})<\/Code>/s.exec(xml)?.[1] ?? '';
}

function field(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) return null;
  return text.replaceAll(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole);
}
