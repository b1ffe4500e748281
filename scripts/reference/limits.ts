import { dereference, type FieldSchema } from '../../src/core/schema.ts';
import { kinds } from '../../src/kinds/index.ts';
import { isStated } from '../../src/stack/validate.ts';
import { code, page, paragraph, table } from './markdown.ts';

/** A rule that a schema has for a field, with what it rests on. */
export type Limit = {
  /** `agent.extensions.tools[].url` */
  readonly field: string;
  readonly keyword: string;
  readonly value: unknown;
  /** The section of the specification that states it. */
  readonly section: string | undefined;
  readonly assumptions: readonly string[];
  readonly severity: 'error' | 'warning';
};

/** Keywords that refuse a value. Types stand on the pages of the kinds. */
const KEYWORDS = [
  ...[
    'enum',
    'const',
    'format',
    'x-format',
    'x-file',
    'pattern',
    'required',
    'oneOf',
    'allOf',
    'if',
  ],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];

/** Every rule of the kinds' fields that the configuration can break, in the order of the schemas. */
export const LIMITS: readonly Limit[] = kinds.flatMap(({ name, schema }) =>
  limitsIn(schema, schema, name),
);

function limitsIn(root: FieldSchema, given: FieldSchema, field: string): readonly Limit[] {
  const schema = dereference(root, given);
  if (schema.readOnly === true || (schema['x-local'] === true && schema['x-section'] === undefined))
    return [];
  const isRoot = schema === root;
  const own = Object.entries(schema).flatMap(([keyword, value]): readonly Limit[] => {
    // The closed list of a kind's fields is the language's: `unchecked` has what is newer.
    const isClosed = keyword === 'additionalProperties' && value === false && !isRoot;
    if (!isClosed && !KEYWORDS.includes(keyword)) return [];
    // The form that only the configuration checks takes the place of the platform's.
    if (keyword === 'format' && schema['x-format'] !== undefined) return [];
    const error = { keyword, instancePath: '', parentSchema: schema, data: {} };
    const isFirm = isClosed || ['allOf', 'if', 'x-file'].includes(keyword) || isStated(error);
    const section = schema['x-section']?.[keyword];
    const assumptions = schema['x-assumes'] ?? [];
    return [
      { field, keyword, value, section, assumptions, severity: isFirm ? 'error' : 'warning' },
    ];
  });
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, member]) =>
    limitsIn(root, member, `${field}.${key}`),
  );
  const rest = schema.additionalProperties;
  return [
    ...own,
    ...members,
    ...(schema.items === undefined ? [] : limitsIn(root, schema.items, `${field}[]`)),
    ...(typeof rest === 'object' && schema.properties === undefined
      ? limitsIn(root, rest, `${field}.NAME`)
      : []),
  ];
}

/** A rule as one line: its keyword, with its value where that is short. */
function describe({ keyword, value }: Limit): string {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isList) return `${keyword}: ${value.join(', ')}`;
  return typeof value === 'object' ? keyword : `${keyword}: ${String(value)}`;
}

/** The page of the limits of fields, and of what they rest on. */
export function limitsPage(): string {
  return page(
    '# Limits of fields',
    paragraph(
      'A value that breaks a rule of the specification is an error. Any other limit is a warning, since the platform may take the value; `validate --strict` makes errors of warnings. A list of values may have grown, so that a value beyond it is a warning, too.',
    ),
    table(
      ['field', 'rule', 'section of the specification', 'assumptions', 'breaking it is'],
      LIMITS.map((limit) => [
        code(limit.field),
        code(describe(limit)),
        limit.section ?? '–',
        limit.assumptions.map(code).join(', ') || '–',
        limit.severity === 'error' ? 'an error' : 'a warning',
      ]),
    ).join('\n'),
  );
}
