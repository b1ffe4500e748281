import type { LongText } from '../config/write.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Entry, Organization } from './survey.ts';

/**
 * What stands where in an exported stack; with one organization its folder is left out:
 *
 * | file                                    | holds                                             |
 * |-----------------------------------------|---------------------------------------------------|
 * | `callsheet.yaml`                        | settings                                          |
 * | `bases.yaml`                            | what resources have in common (`--factor`)        |
 * | `retry_policies.yaml`                   | resources of the account, a file for each kind    |
 * | `harbor/sms_templates.yaml`             | resources of an organization, a file for each kind |
 * | `harbor/agents/front_desk.yaml`         | one agent                                         |
 * | `harbor/prompts/front_desk.md`          | its system prompt                                 |
 * | `harbor/prompts/front_desk.transfer_rules.md` | another long text of it                     |
 * | `bases/common.transfer_rules.md`        | a long text of a base                             |
 */
export type Layout = {
  readonly fileOf: (entry: Entry) => string;
  readonly textFileOf: (entry: Entry, text: LongText) => string | undefined;
  /** The same for a text of a base, whose name stands in the place of an address. */
  readonly baseTextFile: (kind: Kind, text: LongText) => string | undefined;
};

/** Of these there are as many as the account is large: they are read and written one by one, a file each. */
export function isStreamed({ listsAll }: Kind): boolean {
  return listsAll === true;
}

/** What an editor shows on one line, more or less. */
const LONGEST_LINE = 160;
/** The texts that a resource is about: their files are called like the resource alone. */
const MAIN_TEXTS = new Set(['system_prompt', 'body_html', 'body']);

export function layoutOf(organizations: readonly Organization[]): Layout {
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  const folderOf = ({ organization }: Entry) => {
    const name = names.get(organization ?? '');
    return name === undefined || organizations.length < 2 ? '' : `${name}/`;
  };
  return {
    fileOf: (entry) => {
      const { kind, file } = entry;
      const folder = folderOf(entry);
      return isStreamed(kind)
        ? `${folder}${kind.section}/${file}.yaml`
        : `${folder}${kind.section}.yaml`;
    },
    textFileOf: (entry, text) => {
      const { kind, file } = entry;
      return ownTextFile(kind, file, text, folderOf(entry));
    },
    baseTextFile: (kind, text) =>
      isLong(kind, text) ? textFile('bases', text.address, text) : undefined,
  };
}

/** Where a text of a resource stands; undefined for one that stays in the YAML. `folder` ends with a slash. */
export function ownTextFile(
  kind: Kind,
  file: string,
  text: LongText,
  folder = '',
): string | undefined {
  if (!isLong(kind, text)) return undefined;
  return textFile(`${folder}${isStreamed(kind) ? 'prompts' : kind.section}`, file, text);
}

/**
 * Whether a text is easier to read, and to review, in a file of its own: prose of several lines, or whole
 * instructions. The file ends with a line feed, which a name or a subject must not have.
 */
function isLong({ schema }: Kind, { path, text }: LongText): boolean {
  const prose = schema.properties?.[path]?.['x-prose'];
  if (prose === undefined) return false;
  return text.trim().includes('\n') || (prose === 'instructions' && text.length > LONGEST_LINE);
}

function textFile(folder: string, file: string, { path }: LongText): string {
  const name = MAIN_TEXTS.has(path) ? file : `${file}.${path}`;
  return `${folder}/${name}.${path.endsWith('_html') ? 'html' : 'md'}`;
}

/** The way from a file of the stack back to its folder. */
export function wayBack(path: string): string {
  return '../'.repeat(path.split('/').length - 1);
}
