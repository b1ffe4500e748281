import { sanitiseLine } from '../render/untrusted.ts';

/** Markup that is made of templates alone: whatever is put into one is escaped, unless a template made it. */
export type Markup = { readonly markup: string };

type Piece = Markup | string | number | null | readonly Piece[];

/** Texts in a template are untrusted: they stand between tags, or in an attribute in double quotes. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  const rest = strings.slice(1).map((text, at) => markupOf(pieces[at] ?? null) + text);
  return { markup: [strings[0], ...rest].join('') };
}

function markupOf(piece: Piece): string {
  if (piece === null) return '';
  if (typeof piece === 'string') return escapeHtml(sanitiseLine(piece));
  if (typeof piece === 'number') return String(piece);
  return 'markup' in piece ? piece.markup : piece.map(markupOf).join('');
}

const CHARACTERS: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => CHARACTERS[character] ?? character);
}
