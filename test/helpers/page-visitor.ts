import { readPage } from './reading.ts';

/** What a person does on the page of a request. */
interface Pressed {
  /** The words on the button, or part of them. */
  readonly button: string;
  /** Texts typed into fields, by their names. */
  readonly typed?: Readonly<Record<string, string>>;
}

/** Visits a link's page as a browser would: loads it, fills in the form and presses a button. */
export async function visit(link: string, { button, typed = {} }: Pressed): Promise<string> {
  let page = await get(link);
  page = await press(page, button, typed);
  // Where the risk is high, the page asks once more.
  const confirm = /<button[^>]*name="confirm"[^>]*>/.exec(page.html);
  if (confirm) page = await press(page, 'name="confirm"', {});
  return textOf(page.html);
}

interface Page {
  readonly url: string;
  readonly html: string;
}

async function get(url: string, cookie?: string): Promise<Page> {
  const response = await fetch(url, { headers: cookie === undefined ? {} : { cookie } });
  const html = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${textOf(html)}`);
  return { url: response.url, html };
}

async function press(
  { url, html }: Page,
  button: string,
  typed: Readonly<Record<string, string>>,
): Promise<Page> {
  const form = formsIn(html).find((one) => buttonIn(one, button) !== null);
  if (form === undefined) throw new Error(`No button "${button}" on: ${textOf(html)}`);
  const fields = new URLSearchParams();
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, 'name');
    fields.set(name, typed[name] ?? attribute(tag, 'value'));
  }
  for (const [tag] of form.matchAll(/<textarea[^>]*>/g)) {
    const name = attribute(tag, 'name');
    fields.set(name, typed[name] ?? '');
  }
  const pressed = buttonIn(form, button) ?? '';
  fields.set(attribute(pressed, 'name'), attribute(pressed, 'value'));
  await readPage(url);
  const target = new URL(attribute(/<form[^>]*>/.exec(form)?.[0] ?? '', 'action'), url);
  const response = await fetch(target, {
    method: 'POST',
    body: fields,
    headers: { origin: target.origin, 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });
  const location = response.headers.get('location');
  if (response.status !== 303 || location === null) {
    throw new Error(`The form was answered ${response.status}: ${textOf(await response.text())}`);
  }
  const [cookie] = response.headers.getSetCookie();
  return get(new URL(location, target).href, cookie?.split(';')[0]);
}

function formsIn(html: string): string[] {
  return [...html.matchAll(/<form[\s\S]*?<\/form>/g)].map(([form]) => form);
}

/** The tag of the button with these words on it, or in it. */
function buttonIn(form: string, words: string): string | null {
  for (const [button, tag = ''] of form.matchAll(/(<button[^>]*>)[\s\S]*?<\/button>/g)) {
    if (button.includes(words)) return tag;
  }
  return null;
}

function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

function textOf(html: string): string {
  return unescaped(
    html.replaceAll(/<style[\s\S]*?<\/style>|<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
  ).trim();
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
