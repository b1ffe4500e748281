import { describe } from 'vitest';
import { editAtEveryStep } from '../apply/every-step.ts';

describe('an edit at any step of an apply is live afterwards, or told', () => {
  editAtEveryStep({
    'as it is': {},
    'objects are replaced': { merge: 'shallow' },
    'whole seconds': { timestamps: 'seconds' },
    'no `Date`': { dates: false },
    'lists without `updated_at`': { listUpdatedAt: false },
    'entries without times': { historyCreatedAt: false },
    'entries without times, oldest first': { historyCreatedAt: false, historyOrder: 'oldest' },
    'entries that come late': { historyLagMs: 300 },
    // Of one alone, ours takes the place of theirs: then nobody can tell.
    'two entries kept': { historyRetention: 2 },
    'unchanged updates are recorded': { emptyUpdates: 'recorded' },
  });
});
