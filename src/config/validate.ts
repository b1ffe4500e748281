import type { ErrorObject } from 'ajv';
import { formatPath, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema } from '../core/schema.ts';
import { firstTooMany } from './counted.ts';
import { nearest } from './nearest.ts';
import type { Problem, Report } from './problems.ts';
import { subjectOf } from './resolved.ts';
import { fieldNames } from './schema.ts';
import type { Place } from './source.ts';
import { followPointer, isBelowSpecial, type Spot } from './trace.ts';
import { schemaErrors } from './validator.ts';
import { violationWords, type Words } from './violations.ts';

/** A resolved document with what is needed to speak of it. */
type Checked = {
  /** What messages begin with: an address or the name of a file. */
  readonly subject: string;
  readonly address: string | undefined;
  readonly root: Spot;
};

function placeOfSpot(spot: Spot, fallback: Place | undefined): Place | undefined {
  return spot.written?.place ?? spot.keyPlace ?? fallback;
}

/** The keys of an object as they were written, also those that no schema knows. */
function writtenKeys(spot: Spot): readonly string[] {
  return spot.written?.type === 'map' ? [...spot.written.members.keys()] : [];
}

/** "when status is active", "when subject is given", for what only a `then` asks for. */
function condition(error: ErrorObject, root: Spot): string {
  if (!error.schemaPath.startsWith('#/then/')) return '';
  const { if: when }: FieldSchema & { readonly if?: FieldSchema } = root.schema;
  const valued = Object.entries(when?.properties ?? {}).flatMap(([name, wanted]) =>
    wanted.const === undefined ? [] : [`${name} is ${String(wanted.const)}`],
  );
  const parts =
    valued.length > 0 ? valued : (when?.required ?? []).map((name) => `${name} is given`);
  return parts.length === 0 ? '' : ` when ${parts.join(' and ')}`;
}

function missingWords(error: ErrorObject, spot: Spot, root: Spot): Words | undefined {
  // What a branch requires is said of the choice as a whole.
  if (/\/(oneOf|anyOf)\//.test(error.schemaPath)) return undefined;
  const name = String(error.params.missingProperty);
  const known = fieldNames(spot.schema);
  const slip = writtenKeys(spot).some(
    (key) => key === name || (!known.includes(key) && nearest(key, known) === name),
  );
  if (slip) return undefined;
  const message = `needs ${name}${condition(error, root)}`;
  const only = spot.schema.properties?.[name]?.const;
  const hint = only === undefined ? {} : { hint: `Add the line ${name}: ${String(only)}` };
  return { rule: 'schema/required', message, ...hint };
}

function problemOf(error: ErrorObject, checked: Checked): Problem | undefined {
  const { root } = checked;
  const spot = followPointer(root, error.instancePath);
  const item = itemSchema(root.schema, spot.schema);
  const words =
    error.keyword === 'required'
      ? missingWords(error, spot, root)
      : violationWords({ error, spot, open: spot.schema['x-sensitive'] !== true }, item);
  if (words === undefined) return undefined;
  let place = placeOfSpot(spot, root.keyPlace);
  let path: Path = spot.path;
  if (error.keyword === 'contains') {
    // What is counted belongs to the whole resource.
    const first = firstTooMany(error);
    const list = spot.written;
    if (list?.type === 'list' && first !== undefined) place = list.items[first]?.place ?? place;
    path = [];
  } else if (['required', 'oneOf', 'anyOf'].includes(error.keyword)) {
    place = spot.keyPlace ?? place;
  }
  return {
    ...words,
    message: `${subjectOf(checked, path)} ${words.message}${error.keyword === 'required' ? '' : condition(error, root)}`,
    address: checked.address,
    path: formatPath(spot.path),
    place,
  };
}

/** Reports every way in which a resolved document breaks its schema, each in words and at its place. */
export function validate(checked: Checked, report: Report): void {
  const { schema, value } = checked.root;
  // A reference or secret is no text, and a hole nothing at all: of those a schema knows nothing.
  const errors = schemaErrors(schema, value).filter(
    ({ instancePath, schemaPath }) =>
      !isBelowSpecial(value ?? null, instancePath) &&
      // What an element lacks to be counted by `contains` is no fault of its own.
      !/(?<!\/properties)\/contains\//.test(schemaPath),
  );
  if (errors.length === 0) return;
  // A value of the wrong type breaks every other rule as well; saying so would only be noise.
  const mistyped = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
  );
  // So does a text that breaks a pattern: what is no http address is no address either.
  const unlike = new Set(
    errors.filter(({ keyword }) => keyword === 'pattern').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword !== 'type' && mistyped.has(error.instancePath)) continue;
    if (error.keyword === 'format' && unlike.has(error.instancePath)) continue;
    const problem = problemOf(error, checked);
    if (problem !== undefined) report.add(problem);
  }
}
