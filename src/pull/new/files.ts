import { basename } from 'node:path';
import { STACK_FILE } from '../../config/discover.ts';
import { type LongText, type Writable, writeResources } from '../../config/write.ts';
import { type Address, kindOf } from '../../core/address.ts';
import { kinds } from '../../kinds/index.ts';
import { type ExportWords, exportDocument } from './document.ts';
import type { Foreign } from './names.ts';

/** What stands where the file says `$secret`. */
export type NeededSecret = {
  readonly address: Address;
  readonly path: string;
  /** `env:FRONT_DESK_CRM_KEY`. */
  readonly source: string;
};

export type Exported = {
  readonly address: Address;
  readonly id: string;
  /** Its own file. */
  readonly file: string;
  /** Its file and those of its texts, by path in the stack folder. */
  readonly texts: ReadonlyMap<string, string>;
  readonly secrets: readonly NeededSecret[];
  /** Why the language has no words for it; then it is not to be written. */
  readonly unwritable: string | undefined;
};

export type ExportOptions = ExportWords & {
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the stack's own organization. */
  readonly organization: string | undefined;
  /** Whether another live resource is known by the same name, so that only its id tells it. */
  readonly isAmbiguous: (one: Foreign) => boolean;
  /** What the first line of a file tells editors; undefined for none. */
  readonly schemaFor?: (file: string) => string | undefined;
  /** Whether something stands at a path already. */
  readonly isTaken: (file: string) => boolean;
};

/** A file for each resource, and files for its long texts. */
export function exportResources(
  named: ReadonlyMap<Foreign, Address>,
  options: ExportOptions,
): readonly Exported[] {
  return [...named].map(([one, address]) => exportOne(one, address, options));
}

function exportOne(one: Foreign, address: Address, options: ExportOptions): Exported {
  const { kind, live } = one;
  const { organizations, organization, isTaken, isAmbiguous } = options;
  const { document, withheld } = exportDocument(kind, address, live.document, options);
  const adopt = isAmbiguous(one) ? { adopt: live.id } : {};
  const writable: Writable = {
    address,
    kind: kind.name,
    document: { ...document, ...inherited(one) },
    lifecycle: { protect: false, ignore: [], ...adopt },
    unchecked: {},
  };
  const names = address.split('.').slice(1);
  const free = freePath(isTaken);
  const file = free(`${kind.section}/${names.join('-')}`, 'yaml');
  const schema = options.schemaFor?.(file);
  const { text, files, unwritable } = writeResources([writable], {
    kinds,
    organizations,
    organization,
    ...(schema === undefined ? {} : { schema }),
    fileFor: (long) => (isLong(long) ? free(placeOf(long, names), endingOf(long)) : undefined),
  });
  const [first] = unwritable;
  return {
    address,
    id: live.id,
    file,
    texts: new Map([[file, text], ...files]),
    secrets: withheld.map((needed) => ({ address, ...needed })),
    unwritable: first && `${first.path}: ${first.reason}`,
  };
}

/** What the block of a nested resource says of it. */
function inherited({ kind, live }: Foreign) {
  const fields = Object.values(kind.nested?.inherit ?? {});
  return Object.fromEntries(fields.map((field) => [field, live.scope[field] ?? '']));
}

/** From here on a text is easier to read, and to review, in a file of its own. */
const LONG = 300;

function isLong({ text }: LongText): boolean {
  return text.length > LONG || text.trimEnd().split('\n').length > 3;
}

/** `prompts/front_desk`; another text than the prompt has its field's name behind it. */
function placeOf({ address, path }: LongText, names: readonly string[]): string {
  const folder = kindOf(address) === 'agent' ? 'prompts' : 'templates';
  const field = path.replace(/[^\w]+/g, '_').replace(/_+$/, '');
  const isMain = path === 'system_prompt' || path === 'body_html' || path === 'body';
  return `${folder}/${names.join('-')}${isMain ? '' : `.${field}`}`;
}

function endingOf({ path }: LongText): string {
  return path === 'body_html' ? 'html' : 'md';
}

/** A path that nothing stands at yet, that is given once, and that does not make its folder a stack of its own. */
function freePath(isTaken: (file: string) => boolean): (path: string, ending: string) => string {
  return (path, ending) => {
    let file = `${path}.${ending}`;
    const isFree = () => !isTaken(file) && basename(file) !== STACK_FILE;
    for (let count = 2; !isFree(); count += 1) file = `${path}-${count}.${ending}`;
    return file;
  };
}
