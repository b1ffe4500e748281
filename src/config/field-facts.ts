import type { FieldSchema } from '../core/schema.ts';
import { isFree, isText, typesOf } from './schema.ts';

/** A schema with the limits that `FieldSchema` does not name. */
type Limits = {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type FactsOptions = {
  /** Whether the object that holds the field must have it. */
  readonly isRequired: boolean;
  /** Whether it is a field of the platform, not one of Callsheet's own. */
  readonly isOfPlatform: boolean;
};

/**
 * What the schema of a field says of it, in sentences: limits, forms, what clearing and changing it means,
 * and what locks it. Its description and its examples are not among them.
 */
export function factsOf(field: FieldSchema & Limits, options: FactsOptions): readonly string[] {
  const facts = [
    options.isRequired ? 'Required.' : undefined,
    ...limitsOf(field),
    ...formsOf(field),
    ...(options.isOfPlatform ? keepingOf(field, options.isRequired) : []),
    lockOf(field),
  ];
  return facts.filter((fact) => fact !== undefined);
}

function limitsOf(field: FieldSchema & Limits): readonly (string | undefined)[] {
  const { minLength = 0, maxLength, minItems = 0, maxItems } = field;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = field;
  const bounds = [
    minimum === undefined ? undefined : `at least ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `more than ${exclusiveMinimum}`,
    maximum === undefined ? undefined : `at most ${maximum}`,
    exclusiveMaximum === undefined ? undefined : `less than ${exclusiveMaximum}`,
  ].filter((bound) => bound !== undefined);
  return [
    sizes(minLength, maxLength, 'character'),
    sizes(minItems, maxItems, 'element'),
    bounds.length === 0 ? undefined : sentence(bounds.join(', ')),
    field.default === undefined ? undefined : `\`${JSON.stringify(field.default)}\` where absent.`,
  ];
}

/** `1 to 160 characters.` */
function sizes(least: number, most: number | undefined, noun: string): string | undefined {
  const many = (count: number) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  if (most !== undefined)
    return least > 0 ? `${least} to ${many(most)}.` : `At most ${many(most)}.`;
  if (least === 0) return undefined;
  return least === 1 ? 'Not empty.' : `At least ${many(least)}.`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The value forms that the field takes. */
function formsOf(field: FieldSchema): readonly (string | undefined)[] {
  const target = field['x-ref'];
  return [
    isText(field) ? 'May be kept in a file: `{ $file: PATH }`.' : undefined,
    target === undefined ? undefined : `May refer to a resource: \`{ $ref: ${target}.NAME }\`.`,
    field['x-secret'] === true
      ? 'A secret: given as `{ $secret: env:NAME }`, never shown or stored.'
      : undefined,
    field['x-sensitive'] === true || field['x-secrets-inside'] === true
      ? 'May hold secrets: `{ $secret: env:NAME }`. Values are masked everywhere.'
      : undefined,
  ];
}

/** What becomes of the value on the platform. */
function keepingOf(field: FieldSchema, isRequired: boolean): readonly (string | undefined)[] {
  const isOwn = typesOf(field).length > 0 && !isFree(field) && field['x-local'] !== true;
  const isNullable = typesOf(field).includes('null');
  const saysRevert = field.description?.includes('revert') === true;
  return [
    isNullable ? '`null` clears it.' : undefined,
    isOwn && !isNullable && !isRequired && field['x-clearable'] === false
      ? 'Cannot be cleared: without the line it stays as it is.'
      : undefined,
    field['x-immutable'] === true
      ? 'Cannot be changed: another value replaces the resource.'
      : undefined,
    field['x-revert'] === false && !saysRevert
      ? 'A history revert leaves it as it is; a rollback writes it back.'
      : undefined,
    field['x-set'] === true ? 'The order does not matter.' : undefined,
    field['x-identity'] === undefined
      ? undefined
      : `Elements are told apart by \`${field['x-identity']}\`${field['x-repeats'] === true ? '; of several with the same one, the order counts' : ''}.`,
  ];
}

function lockOf(field: FieldSchema): string | undefined {
  const lock = field['x-lock'];
  if (lock === undefined) return undefined;
  const feature = lock.replace('{value}', 'VALUE').replace('{key}', 'NAME');
  return `Can be locked by the feature \`${feature}\` (\`callsheet features\`).`;
}
