import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTable } from '../../src/cli/command-table.ts';
import { DOCUMENTS, type DocumentFormat } from '../../src/console/show.ts';
import { features } from '../../src/features/index.ts';
import { isSchema, propertiesOf, resolvePointer, type Schema } from '../generate/schema.ts';
import { code, page, paragraph, sentence, table, toHeading } from './markdown.ts';

const { commands: COMMANDS } = openTable(features);

const SCHEMAS = join(import.meta.dirname, '../../schemas');

/** The page of every JSON document. */
export function documentsPage(): string {
  const formats = Object.keys(DOCUMENTS) as DocumentFormat[];
  return page(
    '# JSON documents',
    paragraph(
      'With `--format json` a command prints one document on standard output, whatever becomes of it: one of its own or, where it ends before it has anything to print, `callsheet-error`. Each says what it is in `format`, and which version of that in `version`. Its schema (JSON Schema, draft 2020-12) is in the package: `callsheet/schemas/plan.schema.json`. Every schema stands for itself, none needs another file.',
    ),
    paragraph(
      'Within a version members are only added: no member is renamed, removed or given another meaning. Whoever reads a document should take no notice of members that they do not know; the schemas are strict all the same, so that a slip is found, and describe what their own release prints. A change that would break a reader is a new version. Callsheet reads states, journals and snapshots of every version up to its own, and refuses a newer one with both versions in the message. It reads plans of its own version alone: plan again after an upgrade.',
    ),
    table(
      ['document', 'printed by', 'schema'],
      formats.map((format) => [
        toHeading(code(format), format),
        makersOf(format).map(code).join(', '),
        `[${DOCUMENTS[format]}](../../schemas/${DOCUMENTS[format]}.schema.json)`,
      ]),
    ).join('\n'),
    ...formats.flatMap(section),
  );
}

/** The documents that no `--format json` prints, with the commands that write them. */
const WRITTEN: { readonly [format in DocumentFormat]?: string } = {
  'callsheet-drift-notification': 'drift --notify',
  'callsheet-events': 'apply --events',
  'callsheet-snapshot': 'snapshot create --out',
  'callsheet-error': 'every command',
};

function makersOf(format: DocumentFormat): readonly string[] {
  const printing = COMMANDS.flatMap(({ name, prints = [] }) =>
    prints.includes(format) ? [name] : [],
  );
  const more = WRITTEN[format];
  return more === undefined ? printing : [...printing, more];
}

function section(format: DocumentFormat): readonly string[] {
  const root: Schema = JSON.parse(
    readFileSync(join(SCHEMAS, `${DOCUMENTS[format]}.schema.json`), 'utf8'),
  );
  const own = find(root, format);
  if (own === undefined)
    throw new Error(`schemas/${DOCUMENTS[format]}.schema.json has no ${format}`);
  const required = new Set([own.required].flat());
  return [
    `## ${code(format)}`,
    paragraph(sentence(String(own.description ?? root.description ?? root.title))),
    table(
      ['member', 'is'],
      Object.entries(propertiesOf(own))
        .filter(([name]) => name !== 'format' && name !== 'version')
        .map(([name, member]) => [code(name), meaning(member, root, required.has(name))]),
    ).join('\n'),
  ];
}

/** The object whose `format` it is. */
function find(value: unknown, format: string): Schema | undefined {
  if (Array.isArray(value)) return value.map((one) => find(one, format)).find(Boolean);
  if (!isSchema(value)) return undefined;
  if (propertiesOf(value).format?.const === format) return value;
  return Object.values(value)
    .map((one) => find(one, format))
    .find((one) => one !== undefined);
}

function meaning(member: Schema, root: Schema, isRequired: boolean): string {
  const at = typeof member.$ref === 'string' ? resolvePointer(root, member.$ref.slice(1)) : member;
  const described = member.description ?? (isSchema(at) ? at.description : undefined) ?? '';
  return `${sentence(String(described))}${isRequired ? '' : ' Not always there.'}`.trim();
}
