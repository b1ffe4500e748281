import { splitCommands } from '../core/command-line.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';

/** What Markdown or HTML gives a meaning to wherever it stands; an underscore only beside a word. */
const SPECIAL = /[&<>`*[\]|~\\$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
/** What begins a list, a heading or a rule at the start of a line. */
const LEADING = /^[-+=#]|(?<=^\d{1,9})[.)]/;
/** What GitHub and GitLab turn into mentions and references when a word follows. */
const REFERENCE = /[@#!~%$&](?=[\p{L}\p{N}_"])/gu;
const LINK = /:\/\/|www\.|GH-|\b(?:mailto:|xmpp:)/gi;
/** What GitLab shows as words added or removed, wherever it stands in a text. */
const INLINE_DIFF = /[{[](?=[+-])|[+-](?=[}\]])/g;
/** What any of them may begin with, where the rest of it stands in the next piece. */
const OPEN = /[@#!~%$&{[+:/-]$|www\.?$|GH$|mailto$|xmpp$/i;
/** Stands between a sign and a word, unseen, so that they are no reference. */
const BREAK = '\u200b';

/**
 * Untrusted text for a paragraph, a table cell or a heading: it mentions nobody and links nowhere. `next` is what
 * follows at once: what is torn into pieces reads as one again.
 */
export function escapeText(text: string, next = ''): string {
  const ends = OPEN.test(text) && /^\S/.test(next);
  return escapeCode(
    // Behind blanks a line may begin a list as well, and behind four it is code.
    `${sanitiseLine(text).trimStart()}${ends ? BREAK : ''}`
      .replace(LINK, (link) => link.slice(0, 1) + BREAK + link.slice(1))
      .replace(REFERENCE, (sign) => sign + BREAK)
      .replace(INLINE_DIFF, (sign) => sign + BREAK),
  );
}

/** A message, in which commands are code: whatever else stands in it is as untrusted. */
export function escapeMessage(text: string): string {
  const parts = splitCommands(text.trimStart()).map((one) => {
    if (one.isCommand) return inlineCode(one.text);
    const blanks = one.text.length - one.text.trimStart().length;
    return ' '.repeat(blanks) + escapeText(one.text);
  });
  return parts.join('');
}

/** Untrusted text inside a `<code>` element, where references are not looked for. */
function escapeCode(text: string): string {
  return text.replace(SPECIAL, entity).replace(LEADING, entity).replaceAll(BREAK, '&#8203;');
}

function entity(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

/** Untrusted text as inline code. */
export function inlineCode(text: string): string {
  return `<code>${escapeCode(sanitiseLine(text))}</code>`;
}

/** A fenced block whose fence is longer than any in it. The lines are sanitised already. */
export function fence(lines: readonly string[], language: string): string {
  const content = lines.map((line) => sanitise(line)).join('\n');
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map(({ length }) => length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${content}\n${ticks}`;
}

export type PageOptions = {
  /** Characters that the page may have. */
  readonly limit?: number;
  /** Folder of the stack within its repository; empty or left out where it is the repository. */
  readonly stack?: string;
};

/**
 * First line of a page, by which a bot finds the comment or issue to update. It is the same for every plan of a
 * stack and environment, and another one for another stack: a pull request may change several.
 */
export function formatMarker(
  page: 'plan' | 'drift' | 'fleet' | 'rollouts',
  { environment = '' }: Pick<PlanDocument, 'environment'>,
  { stack = '' }: PageOptions,
): string {
  const parts = [
    `callsheet:${page}`,
    ...(stack === '' ? [] : [`stack=${encodeURI(stack)}`]),
    ...(environment === '' ? [] : [`env=${encodeURI(environment)}`]),
  ];
  // Two hyphens could end the comment.
  return `<!-- ${parts.join(' ').replaceAll('--', '-%2D')} -->`;
}

/** Characters that GitHub takes in a comment; GitLab takes 1,000,000. */
export const GITHUB_LIMIT = 65_536;
