import type { FieldMember } from '../../src/core/documents.ts';
import { MEASURES } from '../../src/features/rollout/record.ts';
import { kinds } from '../../src/kinds/index.ts';
import { explainField } from '../../src/stack/editor/explain-field.ts';
import {
  ENVIRONMENT_MEMBERS,
  SHARED_SECTIONS,
  settingsSchema,
} from '../../src/stack/settings-schema.ts';
import { exampleOf } from './examples.ts';
import { documented, fieldSections, fieldTable } from './fields.ts';
import { code, fenced, page, paragraph, table } from './markdown.ts';

const ENVIRONMENT = 'environments.NAME.';
const MEASURE = 'rollouts.NAME.judge.measures.';

/** The page of `callsheet.yaml`, and of what every file may have beside resources. */
export function settingsPage(): string {
  const settings = Object.keys(settingsSchema.properties ?? {});
  const shared = Object.keys(SHARED_SECTIONS);
  return page(
    '# Settings',
    paragraph(
      'A stack is a folder with a `callsheet.yaml`, which holds the settings on this page. It may hold resources, too, or they stand in any other YAML file of the folder.',
    ),
    '## Example',
    fenced('yaml', exampleOf('settings')),
    '## `callsheet.yaml`',
    fieldTable(settings.map(memberOf)),
    ...settings.flatMap((name) => fieldSections(name, 3, { prefix: '', sameAs })),
    '## Sections of every file',
    paragraph('Files may be split in any way; the same address twice is an error.'),
    table(
      ['section', 'holds'],
      kinds.map(({ name, section, schema }) => [
        `[${code(section)}](kinds/${name}.md)`,
        schema.description ?? name,
      ]),
    ).join('\n'),
    fenced('yaml', exampleOf('sections')),
    fieldTable(shared.map(memberOf)),
    ...shared.flatMap((name) => fieldSections(name, 3, { prefix: '' })),
  );
}

/** Environments have members of the stack itself, and measures have members in common. */
function sameAs(name: string): string | undefined {
  const member = name.startsWith(ENVIRONMENT) ? name.slice(ENVIRONMENT.length) : '';
  return ENVIRONMENT_MEMBERS.includes(member) ? member : sameMeasure(name);
}

/** The member of an earlier measure with the same default and the same description. */
function sameMeasure(name: string): string | undefined {
  const [measure, member, ...below] = name.startsWith(MEASURE)
    ? name.slice(MEASURE.length).split('.')
    : [];
  if (measure === undefined || member === undefined || below.length > 0) return undefined;
  const { default: usual, description } = documented(name);
  const first = MEASURES.map((one) => `${MEASURE}${one}.${member}`).find((other) => {
    const found = explainField(other, kinds);
    return !('message' in found) && found.default === usual && found.description === description;
  });
  return first === name ? undefined : first;
}

function memberOf(name: string): FieldMember {
  const { type, required, settable, description } = documented(name);
  return { name, type: type.split(',')[0] ?? type, required, settable, description };
}
