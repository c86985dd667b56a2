# The commands behind these are the README's; nothing is defined here that they do not do.
.PHONY: test unit prove

test:
	./test --yes

unit:
	./test --unit

# make prove TASK=frappe/deletes-and-jobs-fail
prove:
	./arena task prove $(TASK)
