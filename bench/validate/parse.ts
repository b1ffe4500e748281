// The floor of `validate`: reads every file of the stack in the working directory and parses what is YAML or
// CSV with the packages that Callsheet uses. Nothing is looked at and nothing is kept. Repeated keys are not
// looked for either, which `yaml` does slowly, so this is the quicker of the ways to use it.
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { parseDocument } from 'yaml';

const files = globSync('**/*.{yaml,csv,md}');
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.yaml')) parseDocument(text, { uniqueKeys: false });
  if (file.endsWith('.csv')) parse(text);
}
console.log(`${files.length} files`);
