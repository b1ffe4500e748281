import type { Finding, Rule } from './problem.ts';
import { componentName, operationsOf, type Response } from './responses.ts';
import { schemasBelow } from './walk.ts';

/** A rule that looks at one response at a time; a shared one is reported once. */
function each(rule: string, check: (response: Response) => string | undefined): Rule {
  return ({ document }) => {
    const found = new Map<string, Finding>();
    for (const response of operationsOf(document).flatMap(({ responses }) => responses)) {
      const message = check(response);
      const { path } = response.place;
      if (message !== undefined) found.set(path.join('/'), { rule, path, message });
    }
    return [...found.values()];
  };
}

/** The specification does not show what it looks like. */
const UNSHOWN = '429';

export const ANSWER_RULES: readonly Rule[] = [
  each('answer-schema', ({ status, schema }) =>
    schema === undefined && status !== '204' ? 'needs a schema for its body' : undefined,
  ),

  each('error-example', ({ status, examples }) =>
    Number(status) >= 400 && status !== UNSHOWN && examples.length === 0
      ? 'needs an example of its body'
      : undefined,
  ),

  // Fields newer than the document must not make an answer wrong.
  ({ document }) => {
    const answers = operationsOf(document).flatMap(({ responses }) =>
      responses.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
    );
    return schemasBelow(document, answers)
      .filter(({ node }) => node.additionalProperties === false)
      .map(({ path }) => ({
        rule: 'open-answers',
        path,
        message: 'an answer may have more members than are known; drop additionalProperties: false',
      }));
  },

  ({ document }) =>
    operationsOf(document).flatMap(({ place, responses }) => {
      const good = responses.filter(({ status }) => status.startsWith('2'));
      const shapes = new Set(
        good.map(({ schema, path }) => componentName(schema?.node ?? {}) ?? path.join('/')),
      );
      return shapes.size === 1
        ? []
        : [
            {
              rule: 'one-good-answer',
              path: place.path,
              message: 'needs one shape of a good answer',
            },
          ];
    }),
];
