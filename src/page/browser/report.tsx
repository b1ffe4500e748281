import { render } from 'preact';
import { readData, rootElement } from './data.ts';
import { readPlan } from './model/plan.ts';
import { Review } from './parts/review.tsx';

render(<Review plan={readPlan(readData())} />, rootElement());
