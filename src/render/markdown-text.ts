import { splitCommands } from '../core/command-line.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import {
  END_OF_ISOLATE,
  isolate,
  isolateFor,
  sanitise,
  sanitiseLine,
  withoutCommands,
} from './untrusted.ts';

/** Characters that have a meaning in Markdown or HTML anywhere; an underscore has one only beside a word. */
const SPECIAL = /[&<>`*[\]|~\\$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
/** The beginnings of a list, a heading or a rule at the start of a line. */
const LEADING = /^[-+=#]|(?<=^\d{1,9})[.)]/;
/** Signs that GitHub and GitLab turn into mentions and references when a word follows. */
const REFERENCE = /[@#!~%$&](?=[\p{L}\p{N}_"])/gu;
const LINK = /:\/\/|www\.|GH-|\b(?:mailto:|xmpp:)/gi;
/** Signs that GitLab shows as words added or removed, anywhere in a text. */
const INLINE_DIFF = /[{[](?=[+-])|[+-](?=[}\]])/g;
/** The beginnings of all of these, if the rest stands in the next piece. */
const OPEN = /[@#!~%$&{[+:/-]$|www\.?$|GH$|mailto$|xmpp$/i;
/** Stands between a sign and a word, unseen, so that they are no reference. */
const BREAK = '\u200b';

/**
 * Escapes untrusted text for a paragraph, a table cell or a heading, so that it mentions no user and links nowhere.
 * `next` is what follows at once: what is torn into pieces reads as one again.
 */
export function escapeText(text: string, next = ''): string {
  const ends = OPEN.test(text) && /^\S/.test(next);
  const own = sanitiseLine(text).trimStart();
  const escaped = escapeCode(
    // Behind blanks a line may begin a list as well, and behind four it is code.
    `${own}${ends ? BREAK : ''}`
      .replace(LINK, (link) => link.slice(0, 1) + BREAK + link.slice(1))
      .replace(REFERENCE, (sign) => sign + BREAK)
      .replace(INLINE_DIFF, (sign) => sign + BREAK),
  );
  return isolateMarkup(own, escaped);
}

/** Markup of a text, isolated where the text has letters that run from right to left. */
export function isolateMarkup(text: string, markup: string): string {
  const start = isolateFor(text);
  return start === '' ? markup : `${entity(start)}${markup}${entity(END_OF_ISOLATE)}`;
}

/**
 * A line of a page that keeps its order. GitHub and GitLab turn a paragraph by its first letter, also by one that is
 * isolated.
 */
export function leftToRight(line: string): string {
  return /&#829[45];/.test(line) ? `&lrm;${line}` : line;
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
  const own = sanitiseLine(text);
  return `<code>${isolateMarkup(own, escapeCode(own))}</code>`;
}

/** A line of a fenced block: each part keeps its place, and the pieces of one part run in one direction. */
export type FencedLine = string | readonly (string | readonly string[])[];

/** A fenced block whose fence is longer than any in it. */
export function fence(lines: readonly FencedLine[], language: string): string {
  const content = lines.map(fencedLine).join('\n');
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map(({ length }) => length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${content}\n${ticks}`;
}

const LEFT_TO_RIGHT_MARK = '\u200e';

function fencedLine(line: FencedLine): string {
  const parts = typeof line === 'string' ? [line] : line;
  const text = withoutCommands(parts.map(fencedPart).join(''));
  // A page turns the whole block by its first letter.
  return text.replace(/[\u2066\u2067]/, (start) => LEFT_TO_RIGHT_MARK + start);
}

function fencedPart(part: string | readonly string[]): string {
  if (typeof part === 'string') return isolate(sanitise(part));
  const pieces = part.map((piece) => sanitise(piece)).filter((piece) => piece !== '');
  if (pieces.length === 1) return isolate(pieces.join(''));
  const start = isolateFor(pieces.join(''));
  return start === '' ? pieces.join('') : start + pieces.map(isolate).join('') + END_OF_ISOLATE;
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
