/** What a rule of `validate` is about, in words that hold for each of its findings. */
type RuleWords = {
  /** One sentence: what is wrong where the rule reports something. */
  readonly summary: string;
  /** What to do about it. */
  readonly remedy: string;
};

/**
 * Every rule of `validate` by its name, in the order of names. Reports for machines and
 * `docs/reference/rules.md` say of a rule what stands here; a test holds it against the rules in the code.
 */
const TABLE: readonly (readonly [name: string, summary: string, remedy: string])[] = [
  ['address/duplicate', 'Two resources have the same address.', 'Rename or remove one of them.'],
  [
    'address/form',
    'Something that should be an address is none.',
    'Write KIND.NAME, such as agent.reception.',
  ],
  [
    'address/name',
    'The name of a resource has characters that an address cannot hold.',
    'Use letters, digits, _ and -, and begin with a letter or _.',
  ],
  ['base/cycle', 'A base stands on itself.', 'Take one of the bases out of base.'],
  ['base/duplicate', 'Two bases have the same name.', 'Rename or remove one of them.'],
  [
    'base/member',
    'A base has a member that only a resource can have.',
    'Write it in the resources that use the base.',
  ],
  [
    'base/remove',
    'Something is removed that nothing below has.',
    'Correct the name, or take the line out.',
  ],
  [
    'base/unknown',
    'A resource or base names a base that does not exist.',
    'Correct the name, or add the base.',
  ],
  ['base/unused', 'No resource uses a base, so nothing in it is checked.', 'Use it, or remove it.'],
  [
    'config/not-supported',
    'Something of the format is used that this version does not read.',
    'Remove it, or update Callsheet.',
  ],
  [
    'config/state',
    'Where the state is kept is not said whole, or in two ways.',
    'Name one store, with all that it needs.',
  ],
  [
    'csv/header',
    'The first line of a CSV file does not name its columns.',
    'Give each column a name of its own that an expression can use.',
  ],
  [
    'csv/row',
    'A row of a CSV file has too few or too many cells.',
    'Put a cell that holds a comma in quotes.',
  ],
  [
    'csv/syntax',
    'A CSV file is malformed.',
    'Put the whole cell in quotes, and double each quote inside it.',
  ],
  [
    'environment/name',
    'The name of an environment has characters that a path should not have.',
    'Use letters, digits, _ and -, and begin with a letter or _.',
  ],
  [
    'environment/patch',
    'An environment patches what is no resource of the stack, or one row with what all rows share.',
    'Correct the address.',
  ],
  ['environment/state', 'Environments would share one state.', 'Give each a state of its own.'],
  [
    'environment/unknown',
    'There is no such environment.',
    'Correct the name, or add it under environments.',
  ],
  ['file/encoding', 'A text file is not UTF-8.', 'Save it as UTF-8.'],
  ['file/kind', 'A folder or something else stands where a file is expected.', 'Name a file.'],
  [
    'file/missing',
    'A file that the stack names does not exist.',
    'Check its path, which begins at the stack folder.',
  ],
  [
    'file/not-allowed',
    'A field that holds no prose is given as a file.',
    'Write the value in the YAML.',
  ],
  [
    'file/outside',
    'A path or a link leads out of the stack folder.',
    'Copy the file into the stack.',
  ],
  [
    'file/size',
    'A file is empty or larger than may be read or uploaded.',
    'Give a file within the limit.',
  ],
  [
    'file/type',
    'The type of a file is not one that the platform takes, or its content is of another type.',
    'Export it again in a format that is taken.',
  ],
  ['file/unreadable', 'A file or folder cannot be read.', 'Check its permissions.'],
  [
    'fleet/stack',
    'A stack of a tree cannot be read, or it manages what another one manages.',
    'Correct what the message names, in the stack that it names.',
  ],
  [
    'fmt/kept',
    'A file is left as it is, since its meaning could not be shown to stay.',
    'See the message.',
  ],
  [
    'for-each/cell',
    'A list or a map of a row stands inside a text, or a cell holds a value form.',
    'Use it as the whole value of a field; write forms in the resource.',
  ],
  [
    'for-each/column',
    'An expression names a column that the rows do not have.',
    'Correct the name, or add the column.',
  ],
  ['for-each/duplicate-key', 'Two rows have the same key.', 'Give each row its own.'],
  [
    'for-each/each',
    'An expression reads a row where there are none.',
    'Add for_each to the resource, or use a variable.',
  ],
  [
    'for-each/empty',
    'There are no rows, so that every resource of them would be gone.',
    'Add allow_empty: true if that is what you want.',
  ],
  [
    'for-each/file',
    'A file of rows has a name that does not say what it is, or holds resources of the stack.',
    'Name a file of its own that ends in .csv, .json, .yaml or .yml.',
  ],
  [
    'for-each/key',
    'A row has no key that can stand in an address.',
    'Give key an expression that every row has a value for.',
  ],
  [
    'for-each/missing',
    'Something is said of rows, and there is no for_each.',
    'Add for_each, or remove it.',
  ],
  [
    'for-each/rows',
    'Rows are neither a list nor a map of them.',
    'Write a list of maps, or name a file.',
  ],
  [
    'for-each/too-much',
    'Rows are too many, or fill in too much text together.',
    'Make the template smaller, or split the table and the stack with it.',
  ],
  [
    'forget/configured',
    'What is to be forgotten is still in the stack.',
    'Remove the resource, or take it out of forget.',
  ],
  [
    'form/mixed',
    'A value form has other members beside its own.',
    'Leave only the member that begins with $.',
  ],
  [
    'form/unknown',
    'A member that begins with $ is no value form.',
    'Use $file, $ref or $secret, or another name.',
  ],
  [
    'form/value',
    'A value form has something else than what it takes.',
    'Give it what the message names.',
  ],
  [
    'identity/duplicate',
    'Two elements of a list have the same identity.',
    'Rename or remove one of them.',
  ],
  [
    'lifecycle/path',
    'lifecycle.ignore names what no resource of the kind has, or what cannot be ignored.',
    'Correct the path, or remove it.',
  ],
  [
    'lint/unused-ignore',
    'A callsheet-ignore comment silences nothing, or names a rule that does not exist.',
    'Correct the name, or remove the comment.',
  ],
  ['moved/configured', 'What was moved is still in the stack.', 'Rename it, or take the move out.'],
  ['moved/kind', 'A move leads to another kind.', 'A resource keeps its kind.'],
  ['moved/twice', 'Two addresses become the same one.', 'Take one of the moves out.'],
  [
    'moved/unknown',
    'A move leads to what is no resource of the stack.',
    'Correct the address, or take the move out.',
  ],
  [
    'name/duplicate',
    'Two resources that are told apart by name have the same one, or adopt the same id.',
    'Give one of them another.',
  ],
  [
    'organization/missing',
    'A resource belongs to no organization.',
    'Set organization on it, or once for the whole stack.',
  ],
  [
    'organization/unknown',
    'An organization is named that the stack does not list.',
    'Add it under organizations, or give its id.',
  ],
  [
    'platform/base-url',
    'The base address of the platform holds credentials, or would send them in clear.',
    'Use https, and give credentials in the environment.',
  ],
  [
    'platform/method',
    'platform.endpoints makes an operation one of another nature.',
    'A read stays a GET, a delete a DELETE; POST, PUT and PATCH may stand for each other.',
  ],
  [
    'platform/operation',
    'platform.endpoints names an operation that does not exist, or that is documented.',
    'callsheet assumptions lists those that may lie elsewhere.',
  ],
  [
    'platform/path',
    'A path under platform.endpoints cannot be called, or leads to another operation.',
    'Use the parameters of the operation, each once, in braces.',
  ],
  [
    'prompt/duplicated',
    'The same long prompt is written out for several agents.',
    'Put it into a base, or into one file that all of them name.',
  ],
  [
    'prompt/growth',
    'A prompt is longer than the team allows.',
    'Shorten it, or raise lint.max_prompt_characters.',
  ],
  [
    'prompt/one-greeting',
    'An agent speaks several languages and greets in one.',
    'Greet in both, or declare one language.',
  ],
  [
    'prompt/unknown-template',
    'A prompt speaks of a template that does not exist.',
    'Correct the name, or name it under lint.templates.',
  ],
  [
    'prompt/unknown-tool',
    'A prompt speaks of a tool that the agent does not have.',
    'Correct the name, or name it under lint.tools.',
  ],
  [
    'prompt/unknown-transfer',
    'A prompt speaks of a transfer that the agent does not have.',
    'Correct the name, or add the rule.',
  ],
  [
    'prompt/unsupplied-token',
    'A text uses a token that nothing supplies, and gives no fallback.',
    'Correct it, write {{token|fallback}}, or name it under lint.tokens.',
  ],
  [
    'ref/cycle',
    'Resources refer to each other in a circle.',
    'Take one of the references out of it.',
  ],
  ['ref/form', 'A reference is no address.', 'Write it as kind.name.'],
  [
    'ref/kind',
    'A reference leads to a resource of the wrong kind.',
    'Refer to one of the kind that the field takes.',
  ],
  [
    'ref/literal',
    'A text that looks like an address stands where an id belongs.',
    'Write it as { $ref: kind.name }.',
  ],
  ['ref/not-allowed', 'A reference stands in a field that holds no id.', 'Write the value itself.'],
  [
    'ref/unknown',
    'A reference leads to a resource that the stack does not have.',
    'Correct the name, or add the resource.',
  ],
  ['rules/invalid', 'A rule of the team cannot be used as it is written.', 'See the message.'],
  [
    'rules/name',
    'The name of a rule has characters that it cannot have.',
    'Use letters, digits, _ and -, and begin with a letter.',
  ],
  [
    'schema/empty',
    'A key has nothing after it.',
    'Give it a value, or write null to clear the field.',
  ],
  [
    'schema/enum',
    'A value is not one of those that the field takes.',
    'Use one of the values that the message lists.',
  ],
  ['schema/format', 'A text has the wrong form, such as a time zone or an address.', 'Correct it.'],
  ['schema/invalid', 'A value breaks a rule of its schema.', 'Correct it.'],
  [
    'schema/limit',
    'A value is longer, larger or more than the platform takes.',
    'Stay within the limit.',
  ],
  ['schema/pattern', 'A text does not have the form that is read.', 'Follow the example.'],
  [
    'schema/read-only',
    'A field is given that only the platform sets.',
    'Remove it; it comes with the resource.',
  ],
  ['schema/required', 'A field that must be given is missing.', 'Add it.'],
  ['schema/type', 'A value is of the wrong type.', 'Give it as the type that the message names.'],
  [
    'schema/unknown-key',
    'A key is not one that stands here.',
    'Correct its spelling, or put a field that is newer than Callsheet under unchecked.',
  ],
  [
    'secret/command',
    'A command that a secret is read from failed, or gave nothing that can be a secret.',
    'Run it by hand in the folder of the stack, and mend it.',
  ],
  [
    'secret/credential',
    'A secret is read from a variable that holds a credential of Callsheet itself.',
    'Put the secret into a variable of its own.',
  ],
  [
    'secret/exec',
    'A secret is read from a command, and commands are not allowed.',
    'Read the command, then pass --allow-exec.',
  ],
  [
    'secret/literal',
    'A secret stands in clear in the configuration.',
    'Give it as { $secret: env:NAME }, and replace the secret: it is in the history of the repository.',
  ],
  [
    'secret/missing',
    'A secret cannot be read now.',
    'Set the variable or create the file. Only apply needs it, and only where it writes it.',
  ],
  [
    'secret/not-allowed',
    'A secret is given for a field that is neither secret nor sensitive.',
    'Write the value itself, or remove it.',
  ],
  [
    'secret/plain-address',
    'An address seems to hold a credential in clear.',
    'Move the credential into a field that takes $secret.',
  ],
  [
    'secret/plain-header',
    'A header seems to hold a credential in clear.',
    'Give its value as { $secret: env:NAME }.',
  ],
  [
    'secret/source',
    'A $secret does not say where the secret is.',
    'Write it as env:NAME, file:PATH or exec:COMMAND.',
  ],
  [
    'stack/include',
    'A pattern of include matches no file, or cannot be used.',
    'Correct the pattern, which begins at the stack folder.',
  ],
  [
    'stack/misplaced',
    'A setting of the stack stands outside callsheet.yaml.',
    'Move it to callsheet.yaml.',
  ],
  [
    'stack/missing',
    'The folder is no stack.',
    'Give --dir the folder that holds callsheet.yaml, or create it.',
  ],
  ['stack/settings', 'callsheet.yaml holds no settings.', 'Begin it with: callsheet: 1'],
  [
    'template/name',
    'A template uses a name that it is not given.',
    'Add it to with, or correct it.',
  ],
  [
    'template/unbalanced',
    'The braces of a {{token}} do not match.',
    'Write {{name}} or {{name|fallback}}.',
  ],
  [
    'template/unused',
    'A template is given a name that it does not use.',
    'Use it, or take it out of with.',
  ],
  ['text/bom', 'A text file begins with a byte order mark.', 'Save it without one.'],
  [
    'text/line-endings',
    'A text file has Windows line endings, which are sent as they are.',
    'Save it with line feeds.',
  ],
  [
    'unchecked/known',
    'A field that the schema knows stands under unchecked, where nothing checks it.',
    'Write it in the resource itself.',
  ],
  ['usage/invalid', 'A flag has a value that cannot be read.', 'Correct the command line.'],
  [
    'variable/environment',
    'A variable reads something of the environment that is not for stacks.',
    'Name it CALLSHEET_VAR_…, or allow it with --allow-env or CALLSHEET_ALLOW_ENV.',
  ],
  [
    'variable/leave',
    'What a stack may read of the environment is not allowed by a name.',
    'Give names, or beginnings of names with a star behind them.',
  ],
  [
    'variable/missing',
    'A variable has no value.',
    'Give one with --var, in the environment or as its default.',
  ],
  ['variable/name', 'The name of a variable cannot be used.', 'Use letters, digits, _ and -.'],
  [
    'variable/syntax',
    'An interpolation cannot be read.',
    'Write it as a dollar sign with {var.NAME}; two dollar signs stand for one.',
  ],
  [
    'variable/unknown',
    'A variable is used or set that the stack does not declare.',
    'Declare it under variables in callsheet.yaml.',
  ],
  ['variable/value', 'A variable is given as something else than one value.', 'Give it one value.'],
  [
    'yaml/alias',
    'An alias leads nowhere, or aliases stand for too much.',
    'Write out what it stands for.',
  ],
  ['yaml/bom', 'A YAML file begins with a byte order mark.', 'Save it without one.'],
  ['yaml/depth', 'A YAML file is nested deeper than any stack needs.', 'Flatten it.'],
  ['yaml/documents', 'A YAML file holds several documents.', 'Keep one document a file.'],
  ['yaml/duplicate-key', 'A key stands twice in one map.', 'Remove or rename one of them.'],
  ['yaml/key', 'A key is no plain text.', 'Write it as text.'],
  [
    'yaml/merge-key',
    'A merge key (<<) is used, which YAML 1.2 does not have.',
    'Write out what it merges.',
  ],
  [
    'yaml/number',
    'A number cannot be kept as it is written.',
    'Put it in quotes where it is meant as text.',
  ],
  ['yaml/syntax', 'A file is no valid YAML.', 'Correct it at the place that the message names.'],
  ['yaml/tag', 'A YAML tag is used.', 'Remove it; value forms begin with $.'],
  ['yaml/version', 'A file asks for another version of YAML than 1.2.', 'Remove the directive.'],
];

export const RULES: ReadonlyMap<string, RuleWords> = new Map(
  TABLE.map(([name, summary, remedy]) => [name, { summary, remedy }]),
);

/** What is said of a rule that is not listed, such as one that a team made itself. */
export function wordsOfRule(name: string): RuleWords {
  return (
    RULES.get(name) ?? {
      summary: `The rule ${name} of the stack is not kept.`,
      remedy: 'See the message of each finding.',
    }
  );
}
