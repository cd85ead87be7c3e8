import * as fc from 'fast-check';

const snippets = fc.constantFrom(
  '<script>alert(1)</script>',
  '</p></figure></main><form action="https://evil.example">',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '<!--',
  ']]>',
  '</style><style>*{display:none}',
  '</textarea>',
  '&lt;b&gt;&amp;&#60;',
  'javascript:alert(1)',
  'https://evil.example/?a=1&b=2',
  '$& $` $1',
  '\u202e',
  '\u200b\u2066\ufeff',
  '\u0000\u0001\u001b[2J',
  '\u0430\u0441\u0435',
  '👩\u200d💻',
  '\n\n\n\n\n\n',
  ' '.repeat(30),
  '\u0335'.repeat(12),
  '\r\n\t',
);
const units = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
  .map((codes) => String.fromCharCode(...codes));

/** What an agent may write, with much of what a good one would not: markup, halves of pairs, what cannot be seen. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      snippets,
      units,
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ maxLength: 30 }),
      fc.lorem(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
