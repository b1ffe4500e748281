import fc from 'fast-check';

const word = fc.constantFrom(
  ...'you may call never do not must always before after and or: the a 5 30 {{name}} {{first_name|there}} +15550100200 crm_lookup price, hours. être 你好世界 👩‍👩‍👧 ##  -'.split(
    ' ',
  ),
);
const line = fc
  .tuple(
    fc.constantFrom('', '', '# ', '## ', '- ', '1. ', '```', '  ', '<tag>', '**'),
    fc.array(word, { maxLength: 12 }),
  )
  .map(([start, words]) => start + words.join(' '));
/** A prompt of headings, items, code and plain lines. */
export const prompt = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\n\n', ' \n', '\r\n', '\n\n\n')), { maxLength: 14 })
  .map((lines) => lines.map((parts) => parts.join('')).join(''));

/** A prompt and what an editor made of it: lines moved, removed, repeated and put in. */
export const edited = fc
  .tuple(prompt, fc.array(fc.tuple(fc.nat(13), fc.nat(13), line), { maxLength: 5 }))
  .map(([text, edits]) => {
    const lines = text.split('\n');
    for (const [from, to, put] of edits) {
      const [taken = ''] = lines.splice(from % (lines.length + 1), 1);
      lines.splice(to % (lines.length + 1), 0, taken, ...(from > to ? [put] : []));
    }
    return [text, lines.join('\n')] as const;
  });
const anything = fc.tuple(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const lone = fc.tuple(
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\n', ' ', 'a', '\u0301', '\ufe0f') }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\n', '\r', 'b', '`', '{', '}') }),
);
/** Two texts: a prompt and its edit, two prompts, or anything. */
export const texts = fc.oneof(edited, fc.tuple(prompt, prompt), anything, lone);
