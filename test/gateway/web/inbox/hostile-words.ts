/** A name as somebody gives it who wants a page to do something, or to show something else. */
export const HOSTILE = `</a><script>document.title='owned'</script> \u202eevil`;

/** Text as it stands in a page. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
