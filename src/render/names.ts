import { formatLabel } from '../core/address.ts';
import { codeSpan, splitCommands } from '../core/command-line.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { getOwn, type JsonScalar } from '../core/value.ts';
import { cutText } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/** Resources of a plan are shown by name first, and by address or id second. */

/** Names by id and address. */
export type Names = Readonly<Record<string, string>>;

/** Columns of a name: it is live text, and may be of any length. */
const LONGEST_NAME = 80;

/** A name in a line: sanitised, and cut where it is long. */
export function shownName(name: string): string {
  return cutText(sanitiseLine(name), LONGEST_NAME);
}

/** An id, or a reference to an address, with the name of what it stands for. */
export class Named {
  readonly name: string;
  readonly id: string;

  constructor(name: string, id: string) {
    this.name = shownName(name);
    this.id = sanitiseLine(id);
  }
}

/** A value as a view has it. */
export type Shown = JsonScalar | Named | readonly Shown[] | { readonly [key: string]: Shown };

/** The names that a plan knows, of its changes and of what they show. */
export function listNames({ changes, names = {} }: Pick<PlanDocument, 'changes' | 'names'>): Names {
  const own = changes.flatMap(({ address, name }) => (name === address ? [] : [[address, name]]));
  return { ...names, ...Object.fromEntries(own) };
}

/** An address in a text, with the key of its row. */
const ADDRESS = /[a-z_]+(?:\.[A-Za-z_][A-Za-z0-9_-]*)+(?:\["(?:[^"\\]|\\.)*"\])?/g;

/** A message with the names of the resources that it mentions, but for `own`, which it is about. Commands stay as they are. */
export function withNames(text: string, names: Names, own: string | null = null): string {
  return splitCommands(text)
    .map((one) =>
      one.isCommand
        ? codeSpan(one.text)
        : one.text.replace(ADDRESS, (address) =>
            address === own ? address : formatLabel(address, getOwn(names, address)),
          ),
    )
    .join('');
}
