import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../../../../gateway/mail/inbound/reader/text/html-text.ts';

const text = (html: string) => htmlToText(html, 1000);

describe('the text of an HTML mail', () => {
  it('has a line for each block', () => {
    expect(text('<p>One\n  two</p><p>three</p><div>four</div><div>five<br>six</div>')).toBe(
      'One two\n\nthree\n\nfour\nfive\nsix',
    );
    expect(text('<ul><li>a</li><li>b</li></ul>c')).toBe('* a\n* b\n\nc');
    expect(text('<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>')).toBe('a b\nc');
    expect(text('<pre>a  b\n c</pre>')).toBe('a  b\n c');
  });

  it('has nothing that is not shown as text', () => {
    const html =
      '<html><head><title>T</title><style>p{}</style></head><body><!-- c --><script>a<b</script>x</body></html>';
    expect(text(html)).toBe('x');
    expect(text('<!DOCTYPE html><?xml ?>x')).toBe('x');
  });

  it('has the addresses of links', () => {
    expect(text('<a href="https://x.example/?a=1&amp;b=2">here</a>!')).toBe(
      'here (https://x.example/?a=1&b=2)!',
    );
    expect(text('<a class=b href=https://x.example/>https://x.example/</a>')).toBe(
      'https://x.example/',
    );
    expect(text(`<a href="javascript:alert(1)">a</a> <a href='mailto:a@b'>b</a>`)).toBe('a b');
  });

  it('marks what is quoted', () => {
    const html = '<p>Yes.</p><blockquote>Shall<blockquote>we?</blockquote></blockquote><p>Bo</p>';
    expect(text(html)).toBe('Yes.\n\n> Shall\n>\n> > we?\n>\nBo');
  });

  it('has the characters that were written as entities', () => {
    expect(
      text('&lt;b&gt; &amp;amp; caf&eacute; &euro;5 &#8364; &#x20AC; &nope; & &#0; &#1114112;'),
    ).toBe('<b> &amp; café €5 € € &nope; & \ufffd \ufffd');
    expect(text('&constructor; &__proto__;')).toBe('&constructor; &__proto__;');
  });

  it('takes what is not markup as text, and reads tags as browsers do', () => {
    expect(text('1 < 2 and <3')).toBe('1 < 2 and <3');
    expect(text('<b title="a > b">bold</b><i')).toBe('bold<i');
    expect(text('a<!-- never closed')).toBe('a');
    expect(text('a<script>never closed')).toBe('a');
  });

  it('ends soon behind the length that is asked for', () => {
    const long = htmlToText('<p>word</p>'.repeat(10_000), 100);
    expect(long.length).toBeGreaterThanOrEqual(100);
    expect(long.length).toBeLessThan(120);
  });
});
