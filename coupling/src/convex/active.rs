//! The contacts that bend the objective at an iterate: those with a Hessian that is not zero. They
//! are all that the Newton system and its preconditioner consist of; the others (separated and
//! without friction) would only add zeros.

use super::kernels::SymmetricColumns;
use super::layout::Group;

/// The active contacts, in the problem's order. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Active {
    /// Their groups: `begin` and `end` count in `contacts`.
    pub groups: Vec<Group>,
    /// Their indices in the problem.
    pub contacts: Vec<u32>,
}

impl Active {
    /// Finds them among `contacts` contacts in `groups`, by their Hessians, which are positive
    /// semidefinite: zero where the trace is.
    pub fn find(&mut self, contacts: usize, groups: &[Group], hessians: &[SymmetricColumns]) {
        self.groups.clear();
        self.contacts.clear();
        self.contacts.resize(contacts, 0);
        let mut end = 0;
        for group in groups {
            let begin = end;
            for c in group.begin..group.end {
                // Without a branch: whether a contact is active is hard to predict.
                let g = &hessians[c as usize];
                self.contacts[end] = c;
                end += usize::from(g[0][0] + g[1][1] + g[2][2] != 0.0);
            }
            if end > begin {
                self.groups.push(Group { rows: group.rows, begin: begin as u32, end: end as u32 });
            }
        }
        self.contacts.truncate(end);
    }
}
