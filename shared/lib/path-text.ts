/** Segments that proxies and URL parsers take out of a path. */
const VANISHING: ReadonlySet<string> = new Set(['', '.', '..']);
const REFERENCE = 'disk://';

/**
 * A value in the place of a route's parameter, such as `{key+}` in `/v1/kv/{key+}`. A parameter that takes the whole rest
 * keeps its `/`, because many proxies refuse `%2F`; it's encoded where the path would be changed on its way otherwise.
 */
export function pathText(route: string, parameter: string, value: string): string {
  if (!parameter.includes('+')) return encodeURIComponent(value);
  const isReference = route.startsWith('/v1/files/') && value.startsWith(REFERENCE);
  const segments = (isReference ? value.slice(REFERENCE.length) : value).split('/');
  const isPlain = !segments.some((segment) => VANISHING.has(segment));
  return segments.map(encodeURIComponent).join(isPlain ? '/' : '%2F');
}

/** The address of a file of the disk. */
export function filePath(path: string): string {
  return `/v1/files/${pathText('/v1/files/{path+}', '{path+}', path)}`;
}
