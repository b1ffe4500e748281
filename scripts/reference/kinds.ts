import type { FieldDocument } from '../../src/core/documents.ts';
import type { FieldSchema } from '../../src/core/schema.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { configName } from '../../src/stack/schema.ts';
import { OWN_MEMBERS } from '../../src/stack/settings-schema.ts';
import { exampleOf } from './examples.ts';
import { documented, fieldSections, fieldTable } from './fields.ts';
import { bullet, code, fenced, page, paragraph, table } from './markdown.ts';

/** The page of a kind: what it is, an example, every field, and the requests behind it. */
export function kindPage(kind: Kind): string {
  const document = documented(kind.name);
  const isOwn = ({ name }: { readonly name: string }) =>
    OWN_MEMBERS.includes(name) || name === organizationOf(kind);
  const given = document.members.filter(({ settable }) => settable);
  const own = given.filter(isOwn);
  const fields = given.filter((member) => !isOwn(member));
  const scope = { prefix: `${kind.name}.` };
  const sections = (members: typeof given) =>
    members.flatMap(({ name }) => fieldSections(`${kind.name}.${name}`, 3, scope));
  return page(
    `# ${kind.schema.title ?? kind.name}`,
    paragraph(document.description),
    lifeOf(kind),
    '## Example',
    fenced('yaml', exampleOf(kind.name)),
    paragraph(
      `Only what is written is compared and changed; every other field stays as it is on the platform. \`callsheet explain ${kind.name}.FIELD\` shows in a terminal what stands here.`,
    ),
    '## Fields',
    ...togetherWords(kind),
    fieldTable(fields),
    ...sections(fields),
    "## Callsheet's own members",
    'They say how Callsheet treats the resource. The platform has no fields of these names.',
    fieldTable(own),
    ...sections(own),
    ...notGiven(document),
    '## Requests',
    paragraph(
      'What Callsheet calls for this kind. `platform.endpoints` of [`callsheet.yaml`](../settings.md#platformendpoints) takes these names; [assumptions](../assumptions.md) says what an assumed one means.',
    ),
    requestsOf(kind),
  );
}

/** The member that says whose a resource is, where its kind has one. */
function organizationOf({ schema }: Kind): string | undefined {
  const named = Object.values(schema.properties ?? {}).map((field) => field['x-config']);
  return named.find((name) => typeof name === 'string');
}

/** How resources of the kind are addressed, found, changed and deleted. */
function lifeOf(kind: Kind): string {
  const { name, section, nested } = kind;
  const address = nested === undefined ? `${name}.NAME` : `${name}.BLOCK.NAME`;
  const place = nested === undefined ? section : `${section}.BLOCK.${nested.key}`;
  const facts: readonly (readonly [string, string])[] = [
    ['address', `${code(address)}; with \`for_each\`, ${code(`${address}["KEY"]`)}`],
    ['written under', `${code(place)}${blockWords(kind)}`],
    ['found by', foundBy(kind)],
    ['changed', changed(kind)],
    ['deleted', deleted(kind)],
    ...rolledBack(kind),
    ...(kind.schema['x-lock'] === undefined
      ? []
      : [['lock', `${code(kind.schema['x-lock'])}; see: \`callsheet get features\``] as const]),
  ];
  return facts.map(([label, words]) => bullet(`**${label}** ${words}`)).join('\n');
}

/** Names the members that the block around nested resources has beside them. */
function blockWords({ nested }: Kind): string {
  const inherited = Object.entries(nested?.inherit ?? {});
  const words = inherited.map(([member, field]) => `${code(member)} is the ${code(field)} of each`);
  return words.length === 0 ? '' : `, in a block whose ${words.join(' and whose ')}`;
}

function foundBy({ schema, naturalKey, tie }: Kind): string {
  const word = (field: string) => {
    const name = configName(field, schema.properties?.[field] ?? {});
    return name === undefined ? field.replace(/_id$/, '').replaceAll('_', ' ') : code(name);
  };
  const keys = naturalKey.map((fields) => fields.map(word).join(' and ')).join(', or by ');
  const several =
    tie === 'newest' ? 'of several the newest counts' : 'several of one name are an error';
  return `the id in the state, then \`lifecycle.adopt\`, then ${keys}; ${several}`;
}

function changed({ update }: Kind): string {
  return update === undefined
    ? 'the platform has no endpoint for it: another one is made'
    : 'in place, where no field says otherwise';
}

function deleted(kind: Kind): string {
  return kind.delete === undefined
    ? 'the platform has no endpoint for it: it is let go of and stays there'
    : 'with `--allow-delete`, unless `lifecycle.protect` is set or something live uses it';
}

function rolledBack({ history, update }: Kind): readonly (readonly [string, string])[] {
  if (update === undefined) return [];
  return [
    [
      'rolled back',
      history === undefined
        ? 'by writing the values that it had before the run'
        : "by the platform's history, and one write for what a revert leaves alone",
    ],
  ];
}

/** A kind's schema with what it says of several fields together. */
type Together = FieldSchema & {
  readonly oneOf?: readonly FieldSchema[];
  readonly if?: FieldSchema;
  readonly then?: FieldSchema;
};

/** States the rules across fields: a choice of exactly one, and the fields that a value requires. */
function togetherWords({ schema }: Kind): readonly string[] {
  const { oneOf = [], if: when, then }: Together = schema;
  const choice = oneOf.flatMap(({ required = [] }) => required).map(code);
  const asked = (then?.required ?? []).map(code);
  const valued = Object.entries(when?.properties ?? {}).map(
    ([name, { const: value }]) => `${code(name)} is ${code(String(value))}`,
  );
  const given = (when?.required ?? []).map((name) => `${code(name)} is given`);
  const values = valued.length > 0 ? valued : given;
  return [
    ...(choice.length === 0 ? [] : [`Exactly one of ${choice.join(' and ')} is given.`]),
    ...(asked.length === 0
      ? []
      : [`Where ${values.join(' and ')}, ${asked.join(' and ')} must be given.`]),
  ];
}

function notGiven({ members }: FieldDocument): readonly string[] {
  const lines = members
    .filter(({ settable }) => !settable)
    .map(({ name, description }) => bullet(`${code(name)}: ${description}`));
  return lines.length === 0
    ? []
    : [
        '## Not given here',
        'The platform sets these, or they follow from something else.',
        lines.join('\n'),
      ];
}

function requestsOf(kind: Kind): string {
  const known: { readonly [name: string]: Operation } = operations;
  const { read, create, update, revert } = kind.operations;
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['read', read],
    ['create', create],
    ['update', update],
    ['delete', kind.operations.delete],
    ['revert', revert.filter((name) => !read.includes(name))],
    ...kind.facets.map((facet) => [code(facet.field), facet.operations] as const),
    ...Object.entries(kind.schema.properties ?? {}).map(
      ([name, field]) => [code(name), field['x-operations'] ?? []] as const,
    ),
  ];
  const rows = groups.flatMap(([use, names]) =>
    names.map((name) => {
      const { method, path, documented: isDocumented, assumption } = known[name] ?? missing(name);
      const basis = isDocumented ? 'specification' : `assumed: ${code(assumption ?? '')}`;
      return [use, code(name), code(`${method} ${path}`), basis];
    }),
  );
  return table(['for', 'operation', 'request', 'known from'], rows).join('\n');
}

function missing(name: string): never {
  throw new Error(`there is no operation ${name}`);
}
