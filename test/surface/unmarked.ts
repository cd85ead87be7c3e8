type Fields = Record<string, unknown>;

/** An answer without the mark that tools put on what comes from outside. */
export function unmarked({ notice, ...answer }: Fields): Fields {
  const { trust: _trust, ...plain } = answer;
  const isEvent = 'source' in answer;
  return notice === undefined || isEvent ? answer : plain;
}
