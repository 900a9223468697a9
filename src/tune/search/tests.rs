//! The search against judges that answer at random.
