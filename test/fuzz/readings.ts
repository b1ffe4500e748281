import type { Schema } from '../../scripts/generate/schema.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { Answer, Contract, ContractOperation } from './document.ts';

/**
 * The contract of a platform that reads the silent parts of the specification another way. The document
 * describes the first reading of each; here stands what the others answer instead.
 */
export function readAs(contract: Contract, dialect: Partial<Dialect>): Contract {
  return {
    ...contract,
    operations: contract.operations.map((operation) => ({
      ...operation,
      answers: answersOf(operation, dialect),
    })),
  };
}

type Answers = ContractOperation['answers'];

function answersOf({ id, answers }: ContractOperation, dialect: Partial<Dialect>): Answers {
  if (dialect.absent?.some((one) => one === id)) return absent(answers);
  const read = new Map(answers);
  for (const { changes } of READINGS.filter(({ of, when }) => of.includes(id) && when(dialect)))
    for (const [status, answer] of Object.entries(changes(read, dialect))) read.set(status, answer);
  return read;
}

const UNSHOWN: Answer = { schemas: [], anything: true };

/** What is not there cannot be found, but still be busy or broken. */
function absent(answers: Answers): Answers {
  const failures = [...answers].filter(([status]) => Number(status) >= 429);
  return new Map([...failures, ['404', UNSHOWN], ['405', UNSHOWN]]);
}

type Reading = {
  readonly of: readonly string[];
  readonly when: (dialect: Partial<Dialect>) => boolean;
  /** What the operation answers then, by status. */
  readonly changes: (
    answers: Answers,
    dialect: Partial<Dialect>,
  ) => { readonly [status: string]: Answer };
};

const one = (schema: Schema): Answer => ({ schemas: [schema], anything: false });
const having = (...required: readonly string[]): Schema => ({ type: 'object', required });
const wrapped = ({ schemas: [data = {}] }: Answer = UNSHOWN): Answer =>
  one({ ...having('data'), properties: { data } });
const either = (a: Answer = UNSHOWN, b: Answer): Answer => ({
  schemas: [...a.schemas, ...b.schemas],
  anything: false,
});

const DONE = one(having('success'));
const ERROR = one(having('error'));

const READINGS: readonly Reading[] = [
  {
    of: ['createAgent', 'createRetryPolicy'],
    when: ({ createAnswer }) => createAnswer === 'id',
    changes: () => ({ 201: one({ ...having('data'), properties: { data: having('id') } }) }),
  },
  {
    of: ['createAgent', 'createRetryPolicy', 'createEmailTemplate'],
    when: ({ createdStatus }) => createdStatus === 200,
    changes: (answers) => ({ 200: answers.get('201') ?? UNSHOWN }),
  },
  {
    of: ['updateAgent', 'updateEmailTemplate', 'updateSmsTemplate', 'setPaymentTool'],
    when: ({ updateAnswer }) => updateAnswer === 'success',
    changes: () => ({ 200: DONE }),
  },
  {
    of: ['deleteAgent', 'deleteEmailTemplate', 'deleteSmsTemplate'],
    when: ({ deletedStatus }) => deletedStatus === 200,
    changes: () => ({ 200: DONE }),
  },
  {
    of: ['enqueueKnowledgeSource'],
    when: ({ enqueuedStatus }) => enqueuedStatus === 200,
    changes: () => ({ 200: DONE }),
  },
  {
    of: ['getMe'],
    when: ({ me }) => me === 'wrapped',
    changes: (answers) => ({ 200: wrapped(answers.get('200')) }),
  },
  {
    of: ['getPaymentReadiness'],
    when: ({ readiness }) => readiness === 'wrapped',
    changes: (answers) => ({ 200: wrapped(answers.get('200')) }),
  },
  {
    of: ['setPaymentTool'],
    when: ({ readiness, updateAnswer }) => readiness === 'wrapped' && updateAnswer !== 'success',
    changes: (answers) => ({ 200: wrapped(answers.get('200')) }),
  },
  {
    of: ['listEmailTemplates', 'listSmsTemplates', 'listRetryPolicies'],
    when: ({ listPages = 'counted' }) => listPages !== 'counted',
    changes: () => ({ 200: one(having('data')) }),
  },
  {
    of: ['setSipRegistration'],
    when: ({ sipForeign = 403 }) => sipForeign !== 403,
    changes: (answers, { sipForeign }) => ({
      [String(sipForeign)]: either(answers.get(String(sipForeign)), ERROR),
    }),
  },
  {
    of: ['createToken'],
    when: ({ wrongCredentials }) => wrongCredentials === 403,
    changes: () => ({ 403: ERROR }),
  },
  {
    of: ['createEmailTemplate', 'updateEmailTemplate'],
    when: ({ emailErrors }) => emailErrors === 'bad-request',
    changes: (answers) => ({ 400: either(answers.get('400'), ERROR) }),
  },
];
